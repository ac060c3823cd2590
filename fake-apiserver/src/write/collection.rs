//! DELETE of a collection: object by object, each with its own version and event, and not as one.

use serde_json::{Value, json};

use crate::{
    ApiServer,
    failure::Failure,
    list::ListRequest,
    query::Query,
    selectors::Selectors,
    write::{
        delete_options::DeleteOptions,
        driver::{Place, Written},
    },
};

impl ApiServer {
    /// Deletes what a LIST with these parameters would show, and answers with that list.
    ///
    /// # Errors
    /// As for a LIST; and the first refusal of a delete, with those before it done.
    pub(super) fn delete_collection(
        &self,
        place: &Place,
        query_text: &str,
        options: &DeleteOptions,
    ) -> Result<Written, Failure> {
        let query = Query::try_parse(query_text)?;
        let request = ListRequest::try_new(&query)?;
        let selectors = Selectors::try_parse(&query, &place.served.resource)?;
        let snapshot = self.read(|state| request.snapshot(&state.storage, place.id))?;
        let page = request.page(&snapshot, &place.namespace, &selectors);
        let mut items = Vec::new();
        for object in &page.items {
            let value = object.value();
            let key = crate::stored_object::key_of(&place.served.resource, &value);
            match self.delete_object(place, &key, options) {
                Ok(_) => {}
                Err(failure) if failure.status.code == 404 => {}
                Err(failure) => return Err(failure),
            }
            items.push(value);
        }
        let resource = &place.served.resource;
        let mut list_metadata = json!({"resourceVersion": page.revision.to_string()});
        if let Some(token) = page.continue_token {
            list_metadata["continue"] = token.into();
        }
        let list = json!({
            "kind": format!("{}List", resource.kind),
            "apiVersion": resource.api_version(),
            "metadata": list_metadata,
            "items": Value::Array(items),
        });
        Ok(Written::new(200, list.to_string()))
    }
}
