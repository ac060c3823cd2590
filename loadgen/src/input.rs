//! Is what a scenario wants to watch there? Looked at before anything is started, so that a slip costs no trial.

use std::{collections::BTreeMap, path::Path};

use anyhow::{bail, ensure};
use fake_apiserver::{objects_file, profiles::ProfileKind};

use crate::{
    discovery::{full_name, is_named},
    scenario::Cluster,
};

/// Checks that the profile exists and makes what is watched, or that the file of objects can be read and holds it.
///
/// # Errors
/// With what to change.
pub(crate) fn check(cluster: &Cluster) -> anyhow::Result<()> {
    match (&cluster.objects, &cluster.profile) {
        (Some(file), _) => check_file(file, &cluster.resource),
        (None, Some(profile)) => check_profile(profile, &cluster.resource),
        (None, None) => Ok(()),
    }
}

fn check_profile(name: &str, watched: &str) -> anyhow::Result<()> {
    let known = || ProfileKind::ALL.map(ProfileKind::name).join(", ");
    let Some(profile) = ProfileKind::ALL
        .into_iter()
        .find(|kind| kind.name() == name)
    else {
        bail!("profile {name:?} does not exist: there are {}", known());
    };
    let made = profile.resource();
    ensure!(
        is_named(&made, watched),
        "profile {name} makes {plural}, but the resource to watch is {watched}: use --resource {plural}, or in a scenario another profile \
         ({})",
        known(),
        plural = made.plural
    );
    Ok(())
}

fn check_file(file: &Path, watched: &str) -> anyhow::Result<()> {
    let objects = objects_file::read(file)?;
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut holds_watched = false;
    for (resource, _) in &objects {
        holds_watched |= is_named(resource, watched);
        *counts.entry(full_name(resource)).or_default() += 1;
    }
    let listed: Vec<_> = counts
        .iter()
        .map(|(name, count)| format!("{name} ({count})"))
        .collect();
    ensure!(!listed.is_empty(), "{} holds no objects", file.display());
    ensure!(
        holds_watched,
        "{} holds no {watched}: use --resource with one of {}",
        file.display(),
        listed.join(", ")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_profile_must_exist_and_make_what_is_watched() {
        check_profile("pod-6k", "pods").unwrap();
        check_profile("lease", "leases").unwrap();
        check_profile("lease", "leases.coordination.k8s.io").unwrap();
        let unknown = check_profile("pod-7k", "pods").unwrap_err().to_string();
        assert!(unknown.starts_with("profile \"pod-7k\" does not exist: there are pod-6k, "));
        let other = check_profile("pod-6k", "nodes").unwrap_err().to_string();
        assert!(
            other.contains("makes pods") && other.contains("--resource pods"),
            "{other}"
        );
    }
}
