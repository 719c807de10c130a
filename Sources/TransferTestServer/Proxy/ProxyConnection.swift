import Glibc

/// A connection of a client to a ``TestProxy``.
struct ProxyConnection {
    let number: Int
    let socket: Socket
    let proxy: TestProxy

    // MARK: HTTP

    func runHTTP() throws {
        let input = ConnectionInput(socket)
        while true {
            let head = try input.readHead()
            let target = head.method == "CONNECT" ? head.target : head.authority
            let action = head.method == "CONNECT" ? "CONNECT" : "FORWARD"
            let scheme = head.headers["Proxy-Authorization"]?.split(separator: " ").first.map(String.init)
            let passing = proxy.nextRefusal()
            let isAllowed = isAuthorized(head) && proxy.refusal == nil && passing == nil
            proxy.record(
                .init(action: action, target: target, connection: number, isAllowed: isAllowed, scheme: scheme))
            guard isAllowed else {
                try input.readBody(BodyLength(head)) { _, _ in }
                try refuse(passing?.status ?? proxy.refusal ?? 407, head, retryAfter: passing?.retryAfter)
                continue
            }
            guard let upstream = try? proxy.connect(to: Self.port(target), for: number) else {
                try send("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", to: socket)
                return
            }
            if head.method == "CONNECT" {
                try send("HTTP/1.1 200 Connection established\r\n\r\n", to: socket)
            } else {
                try forward(head, input, to: upstream)
            }
            return relay(upstream)
        }
    }

    /// Forwards a request. Each connection to a server carries one request, and its end is that of the response.
    private func forward(_ head: RequestHead, _ input: ConnectionInput, to upstream: Socket) throws {
        let path = head.path + (head.query.map { "?\($0)" } ?? "")
        var text = "\(head.method) \(path) HTTP/1.1\r\n"
        for field in head.headers.fields
        where !["proxy-authorization", "proxy-connection", "connection"].contains(field.name.lowercased()) {
            text += "\(field.name): \(field.value)\r\n"
        }
        try send(text + "Via: 1.1 test-proxy\r\nConnection: close\r\n\r\n", to: upstream)
        if head.headers.listContains("Expect", token: "100-continue") {
            try send("HTTP/1.1 100 Continue\r\n\r\n", to: socket)
        }
        let length = BodyLength(head)
        try input.readBody(length) { piece, _ in
            if length == .chunked { try send(String(piece.count, radix: 16) + "\r\n", to: upstream) }
            try upstream.send(piece)
            if length == .chunked { try send("\r\n", to: upstream) }
        }
        if length == .chunked { try send("0\r\n\r\n", to: upstream) }
    }

    private func refuse(_ status: Int, _ head: RequestHead, retryAfter: Int?) throws {
        var text = "HTTP/1.1 \(status) \(StatusText.reason(status))\r\nContent-Length: 0\r\n"
        if let retryAfter { text += "Retry-After: \(retryAfter)\r\n" }
        if status == 407 {
            switch proxy.authentication {
            case .digest(let user, let password):
                text += "Proxy-Authenticate: \(check(head, user, password, head.target).challenge)\r\n"
            case .staleDigest:
                let nonce = proxy.records.count
                text += "Proxy-Authenticate: Digest realm=\"proxy\", nonce=\"\(nonce)\", stale=true, qop=\"auth\"\r\n"
            case .basic, .none: text += "Proxy-Authenticate: Basic realm=\"proxy\"\r\n"
            }
        }
        try send(text + "\r\n", to: socket)
    }

    private func isAuthorized(_ head: RequestHead) -> Bool {
        let field = head.headers["Proxy-Authorization"]
        switch proxy.authentication {
        case .none: return true
        case .staleDigest: return false
        case .basic(let user, let password): return BasicCredentials(field) == .init(user: user, password: password)
        case .digest(let user, let password):
            // Some clients sign the whole target and others only its path.
            return check(head, user, password, head.target).accepts(field)
                || check(head, user, password, head.path + (head.query.map { "?\($0)" } ?? "")).accepts(field)
        }
    }

    private func check(_ head: RequestHead, _ user: String, _ password: String, _ target: String) -> DigestCheck {
        DigestCheck(algorithm: .md5, user: user, password: password, method: head.method, target: target)
    }

    private static func port(_ target: String) -> UInt16 {
        guard let colon = target.lastIndex(of: ":") else { return 80 }
        return UInt16(target[target.index(after: colon)...]) ?? 80
    }

    // MARK: SOCKS5 (RFC 1928, RFC 1929)

    func runSOCKS() throws {
        let greeting = try receive(2)
        let methods = try receive(Int(greeting[1]))
        if case .basic(let user, let password) = proxy.authentication {
            guard methods.contains(2) else { return try send([5, 0xFF]) }
            try send([5, 2])
            let name = try receiveText(after: receive(2)[1])
            let secret = try receiveText(after: receive(1)[0])
            guard name == user, secret == password else {
                proxy.record(
                    .init(action: "SOCKS", target: "", connection: number, isAllowed: false, scheme: "password"))
                return try send([1, 1])
            }
            try send([1, 0])
        } else {
            try send([5, 0])
        }
        let request = try receive(4)
        let host: String
        switch request[3] {
        case 1: host = try receive(4).map { "\($0)" }.joined(separator: ".")
        case 3: host = try receiveText(after: receive(1)[0])
        default: host = "[" + (try receive(16).map { String($0, radix: 16) }.joined(separator: ":")) + "]"
        }
        let bytes = try receive(2)
        let port = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
        let upstream = proxy.refusal == nil ? try? proxy.connect(to: port, for: number) : nil
        proxy.record(
            .init(
                action: "SOCKS", target: "\(host):\(port)", connection: number, isAllowed: upstream != nil,
                scheme: methods.contains(2) ? "password" : nil))
        guard let upstream else { return try send([5, 5, 0, 1, 0, 0, 0, 0, 0, 0]) }
        try send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
        relay(upstream)
    }

    // MARK: Bytes

    private func receive(_ count: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            filled += try bytes.withUnsafeMutableBytes {
                try socket.receive(into: UnsafeMutableRawBufferPointer(rebasing: $0[filled...]))
            }
        }
        return bytes
    }

    private func receiveText(after length: UInt8) throws -> String {
        String(decoding: try receive(Int(length)), as: UTF8.self)
    }

    private func send(_ bytes: [UInt8]) throws { try bytes.withUnsafeBytes { try socket.send($0) } }

    private func send(_ text: String, to socket: Socket) throws {
        try Array(text.utf8).withUnsafeBytes { try socket.send($0) }
    }

    /// Relays data in both directions until both sides have ended.
    private func relay(_ upstream: Socket) {
        var sides = [
            pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: upstream.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        let others = [upstream, socket]
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while sides.contains(where: { $0.fd >= 0 }) {
            guard poll(&sides, 2, -1) >= 0 || errno == EINTR else { return }
            for index in sides.indices where sides[index].fd >= 0 && sides[index].revents != 0 {
                let count = recv(sides[index].fd, &buffer, buffer.count, 0)
                let isOver =
                    count <= 0
                    || buffer.withUnsafeBytes { bytes in
                        (try? others[index].send(UnsafeRawBufferPointer(rebasing: bytes[..<count]))) == nil
                    }
                guard isOver else { continue }
                sides[index].fd = -1
                shutdown(others[index].descriptor, Int32(SHUT_WR))
                // The relay ends with the server's side: a client that keeps its side open would block the thread.
                if index == 1 { return }
            }
        }
    }
}

extension RequestHead {
    /// The `host:port` of an absolute target.
    fileprivate var authority: String {
        let rest = target.dropFirst(target.hasPrefix("http://") ? 7 : 0)
        return String(rest.prefix { $0 != "/" && $0 != "?" })
    }
}
