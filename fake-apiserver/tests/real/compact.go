package main

import (
	"context"
	"net/http"
	"strconv"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
)

// compact makes etcd forget every revision but the last, as a kube-apiserver does every 5 minutes, and says so where other
// servers' compactors do (k8s.io/apiserver/pkg/storage/etcd3/compact.go). The watch caches hear of it within 15 seconds.
func compact(ctx context.Context, etcd *embed.Etcd) error {
	revision := etcd.Server.KV().Rev()
	value := []byte(strconv.FormatInt(revision, 10))
	if _, err := etcd.Server.Put(ctx, &etcdserverpb.PutRequest{Key: []byte("compact_rev_key"), Value: value}); err != nil {
		return err
	}
	_, err := etcd.Server.Compact(ctx, &etcdserverpb.CompactionRequest{Revision: revision, Physical: true})
	return err
}

// administrator lets every request be the administrator's, and adds one path: POST /-/compact forgets history.
func administrator(handler http.Handler, etcd *embed.Etcd) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/-/compact" {
			if err := compact(r.Context(), etcd); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			w.WriteHeader(http.StatusNoContent)
			return
		}
		if r.Header.Get("Authorization") == "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		handler.ServeHTTP(w, r)
	})
}
