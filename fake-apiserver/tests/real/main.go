// Runs a real kube-apiserver and its etcd in one process, on loopback, and serves it over plain HTTP as well, so that a
// client needs neither certificates nor a token. It prints one line when it is ready, and stops on SIGTERM or SIGINT.
package main

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	basecompatibility "k8s.io/component-base/compatibility"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

const token = "loopback-only"

func main() {
	directory := flag.String("dir", "", "folder for etcd's data, keys and logs; it is made, and must not exist")
	listen := flag.String("listen", "127.0.0.1:0", "address of the plain HTTP port; loopback only")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, *directory, *listen, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "real-apiserver:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, directory, listen string, arguments []string) error {
	if err := os.Mkdir(directory, 0o700); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return err
	}
	if !listener.Addr().(*net.TCPAddr).IP.IsLoopback() {
		return errors.New("every request is an administrator's, so only a loopback address may be listened on")
	}
	etcd, client, err := startEtcd(filepath.Join(directory, "etcd"))
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	defer etcd.Close()
	flags, err := apiserverFlags(directory, client)
	if err != nil {
		return err
	}
	stopped := make(chan error, 1)
	handler, err := startApiserver(ctx, append(flags, arguments...), stopped)
	if err != nil {
		return fmt.Errorf("kube-apiserver: %w", err)
	}
	if err := untilReady(ctx, handler); err != nil {
		return err
	}
	plain := &http.Server{Handler: administrator(handler, etcd), ReadHeaderTimeout: 10 * time.Second}
	go plain.Serve(listener)
	fmt.Printf("listening on http://%s\n", listener.Addr())
	return <-stopped
}

func startEtcd(directory string) (*embed.Etcd, string, error) {
	config := embed.NewConfig()
	config.Dir = directory
	config.Logger = "zap"
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	client := url.URL{Scheme: "http", Host: freeAddress()}
	peer := url.URL{Scheme: "http", Host: freeAddress()}
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	etcd, err := embed.StartEtcd(config)
	if err != nil {
		return nil, "", err
	}
	select {
	case <-etcd.Server.ReadyNotify():
		return etcd, client.String(), nil
	case <-time.After(time.Minute):
		etcd.Close()
		return nil, "", errors.New("not ready after a minute")
	}
}

// freeAddress returns a port that was free a moment ago: neither etcd nor kube-apiserver says which one it got for 0.
func freeAddress() string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}

// apiserverFlags makes the server an envtest's, but for what writes by itself: with its identity's and its endpoint's leases
// off, etcd's revision stands still between requests, so that exchanges can be compared.
func apiserverFlags(directory, etcd string) ([]string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	keyFile, tokenFile := filepath.Join(directory, "service-account.key"), filepath.Join(directory, "tokens.csv")
	if err := os.WriteFile(keyFile, block, 0o600); err != nil {
		return nil, err
	}
	if err := os.WriteFile(tokenFile, []byte(token+",admin,admin,\"system:masters\"\n"), 0o600); err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(freeAddress())
	if err != nil {
		return nil, err
	}
	return []string{
		"--advertise-address=127.0.0.1",
		"--authorization-mode=AlwaysAllow",
		"--bind-address=127.0.0.1",
		"--cert-dir=" + filepath.Join(directory, "certificates"),
		"--disable-admission-plugins=ServiceAccount",
		"--endpoint-reconciler-type=none",
		"--etcd-servers=" + etcd,
		"--feature-gates=APIServerIdentity=false,UnknownVersionInteroperabilityProxy=false",
		"--secure-port=" + port,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + keyFile,
		"--service-account-signing-key-file=" + keyFile,
		"--service-cluster-ip-range=10.0.0.0/24",
		"--token-auth-file=" + tokenFile,
	}, nil
}

// startApiserver does what kube-apiserver's command does, and keeps hold of the handler.
func startApiserver(ctx context.Context, arguments []string, stopped chan<- error) (http.Handler, error) {
	opts := options.NewServerRunOptions()
	flags := pflag.NewFlagSet("kube-apiserver", pflag.ContinueOnError)
	for _, set := range opts.Flags().FlagSets {
		flags.AddFlagSet(set)
	}
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	registry := opts.GenericServerRunOptions.ComponentGlobalsRegistry
	if err := registry.Set(); err != nil {
		return nil, err
	}
	if err := logsapi.ValidateAndApply(opts.Logs, registry.FeatureGateFor(basecompatibility.DefaultKubeComponent)); err != nil {
		return nil, err
	}
	completed, err := opts.Complete(ctx)
	if err != nil {
		return nil, err
	}
	if faults := completed.Validate(); len(faults) != 0 {
		return nil, errors.Join(faults...)
	}
	if completed.InformerName == nil {
		name, err := cache.NewInformerName("kube-apiserver")
		if err != nil {
			return nil, err
		}
		completed.InformerName = name
	}
	config, err := app.NewConfig(completed)
	if err != nil {
		return nil, err
	}
	whole, err := config.Complete()
	if err != nil {
		return nil, err
	}
	server, err := app.CreateServerChain(whole)
	if err != nil {
		return nil, err
	}
	prepared, err := server.PrepareRun()
	if err != nil {
		return nil, err
	}
	go func() { stopped <- prepared.Run(ctx) }()
	return server.GenericAPIServer.Handler, nil
}

func untilReady(ctx context.Context, handler http.Handler) error {
	return wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 2*time.Minute, true, func(context.Context) (bool, error) {
		request, err := http.NewRequest(http.MethodGet, "/readyz", nil)
		if err != nil {
			return false, err
		}
		request.Header.Set("Authorization", "Bearer "+token)
		answer := &status{header: http.Header{}}
		handler.ServeHTTP(answer, request)
		return answer.code == http.StatusOK, nil
	})
}

type status struct {
	header http.Header
	code   int
}

func (s *status) Header() http.Header         { return s.header }
func (s *status) Write(b []byte) (int, error) { return io.Discard.Write(b) }
func (s *status) WriteHeader(code int)        { s.code = code }
