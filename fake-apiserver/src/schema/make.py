#!/usr/bin/env python3
"""Writes kubernetes.txt beside this file: python3 make.py PATH/kubernetes/api/openapi-spec/swagger.json VERSION

Reads the published OpenAPI document and keeps names, types and the merge rules of lists and maps of the kinds below.
"""
import json
import pathlib
import sys

KINDS = """
io.k8s.api.core.v1 ConfigMap Endpoints Event LimitRange Namespace Node PersistentVolume PersistentVolumeClaim Pod
io.k8s.api.core.v1 PodTemplate ReplicationController ResourceQuota Secret Service ServiceAccount Binding
io.k8s.api.admissionregistration.v1 MutatingWebhookConfiguration ValidatingAdmissionPolicy
io.k8s.api.admissionregistration.v1 ValidatingAdmissionPolicyBinding ValidatingWebhookConfiguration
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1 CustomResourceDefinition
io.k8s.kube-aggregator.pkg.apis.apiregistration.v1 APIService
io.k8s.api.apps.v1 ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet
io.k8s.api.autoscaling.v1 Scale
io.k8s.api.autoscaling.v2 HorizontalPodAutoscaler
io.k8s.api.batch.v1 CronJob Job
io.k8s.api.certificates.v1 CertificateSigningRequest
io.k8s.api.coordination.v1 Lease
io.k8s.api.discovery.v1 EndpointSlice
io.k8s.api.events.v1 Event
io.k8s.api.flowcontrol.v1 FlowSchema PriorityLevelConfiguration
io.k8s.api.networking.v1 Ingress IngressClass NetworkPolicy
io.k8s.api.node.v1 RuntimeClass
io.k8s.api.policy.v1 PodDisruptionBudget Eviction
io.k8s.api.rbac.v1 ClusterRole ClusterRoleBinding Role RoleBinding
io.k8s.api.resource.v1 DeviceClass ResourceClaim ResourceSlice
io.k8s.api.scheduling.v1 PriorityClass
io.k8s.api.storage.v1 CSIDriver CSINode StorageClass VolumeAttachment
"""
# Not in the document: the values that absent keys of a list's items stand for.
KEY_DEFAULTS = {("ContainerPort", "protocol"): "TCP", ("ServicePort", "protocol"): "TCP"}
SCALARS = {
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "string",
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "int-or-string",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
}


def main(path, version):
    definitions = json.load(open(path))["definitions"]
    names = {}
    todo = []
    for line in KINDS.split("\n"):
        package, _, kinds = line.partition(" ")
        todo += [f"{package}.{kind}" for kind in kinds.split()]
    done = []
    taken = {}

    def short(full):
        """The last part of a name; with the group before it if another type has the same."""
        if full not in names:
            package, name = full.rsplit(".", 1)
            if name in taken:
                name = package.split(".")[-2] + "." + name
            assert name not in taken, full
            taken[name] = full
            names[full] = name
        return names[full]

    def type_of(schema):
        if "$ref" in schema:
            full = schema["$ref"].removeprefix("#/definitions/")
            target = definitions[full]
            if full in SCALARS:
                return SCALARS[full]
            if "properties" not in target:
                return "any" if target.get("type") in (None, "object") else target["type"]
            if full not in done and full not in todo:
                todo.append(full)
            return short(full)
        kind = schema.get("type")
        if kind == "array":
            return "[" + type_of(schema["items"]) + "]"
        if kind == "object" and "additionalProperties" in schema:
            return "{" + type_of(schema["additionalProperties"]) + "}"
        if kind in (None, "object"):
            return "any"
        return {"integer": "int", "boolean": "bool"}.get(kind, kind)

    out = [
        f"# The kinds of Kubernetes {version}: types, their fields, and how lists and maps merge. Made by make.py.",
        "# TYPE [group/version] [atomic], then its fields: NAME[!] TYPE [atomic|set|keys=A,B] [merge[=KEY]] [retain-keys] [default=V]",
    ]
    while todo:
        full = todo.pop(0)
        if full in done:
            continue
        done.append(full)
        schema = definitions[full]
        line = short(full)
        gvks = schema.get("x-kubernetes-group-version-kind", [])
        if len(gvks) == 1:
            gvk = gvks[0]
            line += " " + (gvk["group"] + "/" + gvk["version"]).strip("/")
        if schema.get("x-kubernetes-map-type") == "atomic":
            line += " atomic"
        out.append(line)
        required = schema.get("required", [])
        for field, rules in schema["properties"].items():
            parts = [field + ("!" if field in required else ""), type_of(rules)]
            list_type = rules.get("x-kubernetes-list-type")
            if list_type == "set":
                parts.append("set")
            elif list_type == "map":
                parts.append("keys=" + ",".join(rules["x-kubernetes-list-map-keys"]))
            elif rules.get("x-kubernetes-map-type") == "atomic":
                parts.append("atomic")
            strategy = rules.get("x-kubernetes-patch-strategy", "").split(",")
            if "merge" in strategy:
                key = rules.get("x-kubernetes-patch-merge-key")
                parts.append("merge" + (f"={key}" if key else ""))
            if "retainKeys" in strategy:
                parts.append("retain-keys")
            if (short(full), field) in KEY_DEFAULTS:
                parts.append("default=" + KEY_DEFAULTS[short(full), field])
            out.append(" " + " ".join(parts))
    target = pathlib.Path(__file__).with_name("kubernetes.txt")
    target.write_text("\n".join(out) + "\n")


main(*sys.argv[1:])
