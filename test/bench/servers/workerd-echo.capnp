using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [ (name = "echo", worker = .echo) ],
  sockets = [ (name = "http", address = "127.0.0.1:0", http = (), service = "echo") ]
);

const echo :Workerd.Worker = (
  modules = [ (name = "worker", esModule = embed "workerd-echo.js") ],
  compatibilityDate = "2026-01-01",
);
