//! A list in pages. Mirrors client-go's `tools/pager/pager.go`.

use std::{future::Future, mem, sync::Arc};

use crate::api::{ListOptions, ListPage, ResourceVersion};

use super::{ApiError, ListerWatcher};

/// What a pager asks of a server; every [`ListerWatcher`] can.
pub trait PageList<T> {
    /// Requests one page.
    fn page(
        &self,
        options: &ListOptions,
    ) -> impl Future<Output = Result<ListPage<T>, ApiError>> + Send;
}

impl<T, L: ListerWatcher<T>> PageList<T> for L {
    fn page(
        &self,
        options: &ListOptions,
    ) -> impl Future<Output = Result<ListPage<T>, ApiError>> + Send {
        self.list(options)
    }
}

/// Requests pages until there are no more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pager {
    /// Objects a page; 0 asks for everything at once.
    pub page_size: u64,
}

/// A complete list.
#[derive(Debug)]
pub struct PagedList<T> {
    /// The first page's version.
    pub resource_version: ResourceVersion,
    /// The objects of every page.
    pub items: Vec<Arc<T>>,
    /// Whether a second page was asked for.
    pub paging: Paging,
}

/// Whether a list came in one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paging {
    /// A second page was asked for.
    Paginated,
    /// The first answer was everything.
    Whole,
}

impl Pager {
    /// Lists everything. Follow-up pages carry the token and neither version nor match. If a token expires, one full list at the
    /// original version takes the place of what was gathered.
    ///
    /// # Errors
    /// The server's, on the first page or if it is not an expired token.
    pub async fn list<T>(
        &self,
        server: &impl PageList<T>,
        options: &ListOptions,
    ) -> Result<PagedList<T>, ApiError> {
        let mut request = ListOptions {
            limit: self.page_size,
            ..options.clone()
        };
        let first = server.page(&request).await?;
        let mut list = PagedList {
            resource_version: first.resource_version,
            items: first.items,
            paging: Paging::Whole,
        };
        let mut token = first.continue_token;
        while !token.is_empty() {
            list.paging = Paging::Paginated;
            request.continue_token = mem::take(&mut token);
            request.resource_version = ResourceVersion::unset();
            request.resource_version_match = None;
            match server.page(&request).await {
                Ok(page) => {
                    list.items.extend(page.items);
                    token = page.continue_token;
                }
                // Only this reason, not its older form `Gone`, nor the code alone.
                Err(ApiError::Status(status)) if status.reason == "Expired" => {
                    let full = ListOptions {
                        limit: 0,
                        continue_token: String::new(),
                        ..options.clone()
                    };
                    let page = server.page(&full).await?;
                    return Ok(PagedList {
                        resource_version: page.resource_version,
                        items: page.items,
                        paging: Paging::Paginated,
                    });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(list)
    }
}
