/// The script that runs pyftpdlib for ``FTPServer``, with its settings as JSON in the first argument.
enum FTPServerScript {
    static let text = """
        import json, logging, os, signal, socket, sys
        from OpenSSL import SSL
        from pyftpdlib.authorizers import DummyAuthorizer
        from pyftpdlib.handlers import FTPHandler, DTPHandler, PassiveDTP, TLS_FTPHandler, TLS_DTPHandler
        from pyftpdlib.ioloop import IOLoop
        from pyftpdlib.servers import FTPServer

        settings = json.loads(sys.argv[1])
        logging.basicConfig(level=logging.ERROR)
        authorizer = DummyAuthorizer()
        for name, password in settings["users"].items():
            authorizer.add_user(name, password, settings["root"], perm="elradfmwMT")
        authorizer.add_anonymous(settings["root"], perm="elradfmw")
        log = open("log", "a", buffering=1)
        secure = bool(settings["certificate"])

        def context(pair):
            made = SSL.Context(SSL.TLS_METHOD)
            made.use_certificate_chain_file(pair[0])
            made.use_privatekey_file(pair[1])
            return made

        class Data(TLS_DTPHandler if secure else DTPHandler):
            # More than one piece at a time, so that a stopped client is noticed soon.
            ac_out_buffer_size = 65536
            ac_in_buffer_size = 65536

            def __init__(self, sock, channel):
                if settings["sendRate"]:
                    # SO_MAX_PACING_RATE, which Python has no name for.
                    sock.setsockopt(socket.SOL_SOCKET, 47, settings["sendRate"])
                    sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 128 << 10)
                super().__init__(sock, channel)

            if secure:
                # A client that begins the handshake before it says what it wants is taken for one that hung up.
                def readable(self):
                    return (self._ssl_requested and not self._ssl_established) or super().readable()
            if settings["dataCertificate"]:
                def secure_connection(self, _):
                    super().secure_connection(context(settings["dataCertificate"]))

        class Passive(PassiveDTP):
            # What has gone through the relay is what has come in, and not what the kernel keeps for it.
            def bind(self, address):
                if settings["dataRelay"]:
                    self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 256 << 10)
                super().bind(address)

        class Handler(TLS_FTPHandler if secure else FTPHandler):
            banner = "ready"
            timeout = 300
            dtp_handler = Data
            passive_dtp = Passive
            tcp_no_delay = True

            def pre_process_command(self, line, cmd, arg):
                log.write(cmd + (" " + arg if arg and cmd != "PASS" else "") + "\\n")
                if cmd in settings["lacks"]:
                    self.respond("502 not implemented")
                    return
                if settings["replies"].get(cmd):
                    reply = settings["replies"][cmd].pop(0)
                    if reply:
                        self.respond(reply)
                        if reply.startswith("421"):
                            self.close_when_done()
                        return
                super().pre_process_command(line, cmd, arg)

            def respond(self, resp, *more, **named):
                # 229 Entering extended passive mode (|||6446|).
                if settings["dataRelay"] and resp.startswith("229 "):
                    port = resp.split("|")[3]
                    log.write("DATA " + port + "\\n")
                    resp = resp.replace(port, str(settings["dataRelay"]))
                super().respond(resp, *more, **named)

            def handle(self):
                log.write("CONNECT\\n")
                if settings["isImplicit"]:
                    self.secure_connection(self.ssl_context)
                    self._extra_feats = ["PBSZ", "PROT"]
                super().handle()

        Handler.authorizer = authorizer
        if secure:
            Handler.certfile, Handler.keyfile = settings["certificate"]
            Handler.ssl_context = context(settings["certificate"])
            Handler.tls_control_required = Handler.tls_data_required = settings["requiresTLS"]

        server = FTPServer(("127.0.0.1", settings["port"]), Handler)
        server.max_cons = 512

        asked = []

        def cut():
            if asked:
                asked.clear()
                for item in list(server.ioloop.socket_map.values()):
                    if isinstance(item, (Handler, Data)):
                        item.close()

        open("ready", "w").close()
        server.ioloop.call_every(0.02, cut)
        signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
        server.serve_forever(timeout=0.05, handle_exit=False)
        """
}
