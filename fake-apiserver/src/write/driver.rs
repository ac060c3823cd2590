//! Carries writes out: reads the present state, asks the rules, commits, and begins again if the object has changed meanwhile.

use bench_core::api::ObjectKey;
use bytes::Bytes;
use rand::RngExt as _;
use serde_json::{Value, json};

use crate::{
    ApiServer,
    failure::Failure,
    object_name,
    storage::{ResourceId, WriteError},
    stored_object::ObjectDraft,
    write::{
        content, create,
        decode::check_patched,
        definitions,
        failures::OBJECT_LIMIT_BYTES,
        managed::{self, Author},
        metadata,
        parameters::{DryRun, WriteOptions},
        patch::Patch,
        rules::{Part, ServedResource},
        update::{self, Updated},
    },
};

/// How often a generated name is tried.
const NAME_ATTEMPTS: usize = 8;

/// Where a write goes.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    pub(crate) id: ResourceId,
    pub(crate) served: ServedResource,
    /// Empty if the resource has no namespaces.
    pub(crate) namespace: String,
}

/// A change of an object that may exist.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Patch(Patch),
    Put(Value),
}

/// A write that was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) code: u16,
    pub(crate) body: Bytes,
    pub(crate) warnings: Vec<String>,
}

impl Written {
    pub(super) fn new(code: u16, body: impl Into<Bytes>) -> Self {
        Self {
            code,
            body: body.into(),
            warnings: Vec::new(),
        }
    }
}

impl ApiServer {
    /// Creates an object from a decoded body.
    ///
    /// # Errors
    /// As a server answers: 404 without the namespace, 403 in one under deletion, 409 for a name that is taken, 422.
    pub(crate) fn create_object(
        &self,
        place: &Place,
        mut object: Value,
        options: &WriteOptions,
    ) -> Result<Written, Failure> {
        let served = &place.served;
        create::wipe_system_fields(&mut object);
        content::set_defaults(served, &mut object);
        let author = self.author(Part::Main, options);
        managed::record_update(served, None, &mut object, &author);
        self.create_recorded(place, object, options)
    }

    /// The same of an object whose record of field managers is made already.
    fn create_recorded(
        &self,
        place: &Place,
        mut object: Value,
        options: &WriteOptions,
    ) -> Result<Written, Failure> {
        create::wipe_system_fields(&mut object);
        create::settle_namespace(&place.served, &place.namespace, &mut object)?;
        self.check_namespace(place, metadata::text(&object, "name"))?;
        let resource = &place.served.resource;
        let is_generated = create::wants_generated_name(&object);
        let mut name = String::new();
        for _ in 0..if is_generated { NAME_ATTEMPTS } else { 1 } {
            let mut candidate = object.clone();
            let uid = self.read(|state| {
                if is_generated {
                    let name = create::generated_name(&object, &mut state.random);
                    metadata::of_mut(&mut candidate).insert("name".to_owned(), name.into());
                }
                object_name::uid(state.random.random())
            });
            let now = self.calendar_time();
            let complete = create::create(&place.served, candidate, &uid, now)?;
            metadata::text(&complete, "name").clone_into(&mut name);
            if let Some(body) = self.put_unless_dry(place, complete, None, options.dry_run)? {
                self.after_write(place, &ObjectKey::new(&place.namespace, &name));
                return Ok(Written::new(201, body));
            }
        }
        if is_generated {
            return Err(Failure::no_unique_name(resource, &name));
        }
        let mut failure = Failure::already_exists(resource, &name);
        let key = ObjectKey::new(&place.namespace, &name);
        let present = self.present(place, &key);
        if present.is_some_and(|(_, present)| metadata::is_terminating(&present)) {
            let message = &mut failure.status.message;
            message.insert_str(0, "object is being deleted: ");
        }
        Err(failure)
    }

    /// Replaces or patches an object, or creates it where the verb and the kind allow that.
    ///
    /// # Errors
    /// As a server answers: 404, 409, 422.
    pub(crate) fn change_object(
        &self,
        place: &Place,
        key: &ObjectKey,
        (part, change): (Part, &Change),
        options: &WriteOptions,
    ) -> Result<Written, Failure> {
        let served = &place.served;
        loop {
            let Some((revision, current)) = self.present(place, key) else {
                return self.create_by_change(place, key, (part, change), options);
            };
            let author = self.author(part, options);
            let (mut new, warnings) =
                next_state(served, key, &current, (change, options, &author))?;
            create::settle_namespace(served, &place.namespace, &mut new)?;
            check_name(key, &new)?;
            update::check_version(served, &current, &mut new)?;
            content::set_defaults(served, &mut new);
            if !matches!(change, Change::Patch(Patch::Apply(_))) {
                managed::record_update(served, Some(&current), &mut new, &author);
            }
            let done = match update::update(served, part, &current, new)? {
                Updated::Unchanged => Some(render(served, &current)),
                Updated::Changed(new) => {
                    let body = self.put_unless_dry(place, new, Some(revision), options.dry_run)?;
                    if body.is_some() {
                        self.after_write(place, key);
                    }
                    body
                }
                Updated::Removed(new) => {
                    let body = render(served, &new);
                    let is_done = options.dry_run == DryRun::All
                        || self.remove(place, key, revision).is_some();
                    is_done.then_some(body)
                }
            };
            if let Some(body) = done {
                let mut written = Written::new(200, body);
                written.warnings = warnings;
                return Ok(written);
            }
        }
    }

    /// A PUT or a PATCH of what does not exist.
    fn create_by_change(
        &self,
        place: &Place,
        key: &ObjectKey,
        (part, change): (Part, &Change),
        options: &WriteOptions,
    ) -> Result<Written, Failure> {
        let served = &place.served;
        match change {
            Change::Put(object) if part == Part::Main && served.creates_on_update() => {
                self.create_object(place, object.clone(), options)
            }
            Change::Patch(Patch::Apply(config)) if part == Part::Main => {
                let uid = metadata::text(config, "uid");
                if !uid.is_empty() {
                    let why = format!(
                        "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
                    );
                    return Err(Failure::conflict(&served.resource, key.name(), &why));
                }
                let author = self.author(part, options);
                let mut object = managed::apply(served, None, config, &author, options.force)?;
                create::settle_namespace(served, &place.namespace, &mut object)?;
                check_name(key, &object)?;
                content::set_defaults(served, &mut object);
                self.create_recorded(place, object, options)
            }
            _ => {
                let resource = &served.resource;
                let (group, plural) = (&resource.group, &resource.plural);
                Err(Failure::object_not_found(group, plural, key.name()))
            }
        }
    }

    fn author<'a>(&self, part: Part, options: &'a WriteOptions) -> Author<'a> {
        Author {
            manager: &options.manager,
            part,
            now: self.calendar_time(),
        }
    }

    /// What the server does of itself after an object was written.
    fn after_write(&self, place: &Place, key: &ObjectKey) {
        if place.served.is(definitions::GROUP, definitions::PLURAL) {
            self.establish(place, key);
        }
    }

    /// An object as it is, and its version.
    pub(crate) fn present(&self, place: &Place, key: &ObjectKey) -> Option<(u64, Value)> {
        let object = self.read(|state| {
            let objects = state.storage.store(place.id).objects();
            objects.get(key).map(std::sync::Arc::clone)
        })?;
        // Parsed outside the lock.
        Some((object.revision(), object.value()))
    }

    /// Commits an object in the place of one at `revision`.
    pub(super) fn commit_value(
        &self,
        place: &Place,
        object: Value,
        revision: u64,
    ) -> Result<(), WriteError> {
        let draft = ObjectDraft::write(&place.served.resource, object);
        self.commit_object(place.id, &draft, Some(revision))?;
        Ok(())
    }

    /// Commits an object unless it is a dry run; `None` if the store is not as expected.
    pub(super) fn put_unless_dry(
        &self,
        place: &Place,
        mut object: Value,
        expected: Option<u64>,
        dry_run: DryRun,
    ) -> Result<Option<Bytes>, Failure> {
        let resource = &place.served.resource;
        let mut draft = ObjectDraft::write(resource, object.clone());
        if draft.json.len() > OBJECT_LIMIT_BYTES {
            // Servers give the record of field managers up first.
            metadata::of_mut(&mut object).shift_remove("managedFields");
            draft = ObjectDraft::write(resource, object.clone());
        }
        if draft.json.len() > OBJECT_LIMIT_BYTES {
            return Err(Failure::object_too_large());
        }
        if dry_run == DryRun::All {
            let present = self.present(place, draft.key());
            let is_as_expected = present.map(|(revision, _)| revision) == expected;
            return Ok(is_as_expected.then(|| render(&place.served, &object)));
        }
        match self.commit_object(place.id, &draft, expected) {
            Ok(stored) => Ok(Some(stored.json_bytes())),
            Err(
                WriteError::AlreadyExists(_) | WriteError::Changed(_) | WriteError::NotFound(_),
            ) => Ok(None),
        }
    }

    /// The admission plugin `NamespaceLifecycle` on a create.
    fn check_namespace(&self, place: &Place, name: &str) -> Result<(), Failure> {
        if place.namespace.is_empty() {
            return Ok(());
        }
        let namespace = self.read(|state| {
            let id = state.storage.find("", "v1", "namespaces")?;
            let key = ObjectKey::new("", &place.namespace);
            let objects = state.storage.store(id).objects();
            objects.get(&key).map(std::sync::Arc::clone)
        });
        let Some(namespace) = namespace else {
            return Err(Failure::object_not_found(
                "",
                "namespaces",
                &place.namespace,
            ));
        };
        if namespace.value().pointer("/status/phase") == Some(&"Terminating".into()) {
            let resource = &place.served.resource;
            return Err(Failure::namespace_terminating(
                resource,
                name,
                &place.namespace,
            ));
        }
        Ok(())
    }
}

/// What the object is to become, before the rules of updates, and what the client is warned of.
fn next_state(
    served: &ServedResource,
    key: &ObjectKey,
    current: &Value,
    (change, options, author): (&Change, &WriteOptions, &Author<'_>),
) -> Result<(Value, Vec<String>), Failure> {
    let resource = &served.resource;
    match change {
        Change::Patch(Patch::Apply(config)) => {
            let mut config = config.clone();
            create::settle_namespace(served, key.namespace(), &mut config)?;
            check_name(key, &config)?;
            let applied = managed::apply(served, Some(current), &config, author, options.force)?;
            Ok((applied, Vec::new()))
        }
        Change::Patch(patch) => {
            let patched = patch.apply(resource, current)?;
            let decoded = check_patched(resource, patched, options.validation)?;
            Ok((decoded.object, decoded.warnings))
        }
        Change::Put(object) => {
            check_uid(served, key, current, object)?;
            Ok((object.clone(), Vec::new()))
        }
    }
}

/// The uid in the body of a PUT is a precondition.
fn check_uid(
    served: &ServedResource,
    key: &ObjectKey,
    current: &Value,
    object: &Value,
) -> Result<(), Failure> {
    let (asked, present) = (
        metadata::text(object, "uid"),
        metadata::text(current, "uid"),
    );
    if asked.is_empty() || asked == present {
        return Ok(());
    }
    let why = format!("UID in precondition: {asked}, UID in object meta: {present}");
    Err(Failure::precondition(&served.resource, key, &why))
}

/// The name in a body is that of the path.
pub(crate) fn check_name(key: &ObjectKey, object: &Value) -> Result<(), Failure> {
    let (expected, name) = (key.name(), metadata::text(object, "name"));
    if name == expected {
        return Ok(());
    }
    let problem = if name.is_empty() {
        format!(
            "the name of the object ({expected} based on URL) was undeterminable: name must be provided"
        )
    } else {
        format!("the name of the object ({name}) does not match the name on the URL ({expected})")
    };
    Err(Failure::bad_request(problem))
}

/// The JSON of an object that is not stored.
pub(super) fn render(served: &ServedResource, object: &Value) -> Bytes {
    let mut answer = json!({
        "kind": served.resource.kind,
        "apiVersion": served.resource.api_version(),
    });
    let fields = object.as_object().into_iter().flatten();
    for (name, value) in fields.filter(|(name, _)| !matches!(name.as_str(), "kind" | "apiVersion"))
    {
        answer[name] = value.clone();
    }
    answer.to_string().into()
}
