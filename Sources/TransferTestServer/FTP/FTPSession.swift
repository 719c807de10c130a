import Glibc

/// A control connection of an ``FTPScriptServer``, on a thread of its own.
final class FTPSession {
    private let socket: Socket
    private let server: FTPScriptServer
    private var unread: [UInt8] = []
    private var folder = "/"
    private var renamed: String?
    private var offset = 0
    private var data: Listener?

    init(socket: Socket, server: FTPScriptServer) {
        self.socket = socket
        self.server = server
    }

    deinit {
        data?.close()
    }

    func run() throws {
        try say("220 ready")
        while true {
            let line = try readLine()
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            let (name, argument) = (words.first?.uppercased() ?? "", words.count > 1 ? words[1] : "")
            let fault = server.state.withLock { state -> FTPScriptServer.Fault? in
                state.commands.append(name)
                guard var script = state.scripts[name] else { return nil }
                guard !script.faults.isEmpty else { return script.afterwards }
                let next = script.faults.removeFirst()
                state.scripts[name] = script
                return next
            }
            switch fault {
            case .hangUp: return
            case .reply(let text):
                try say(text)
                if text.hasPrefix("421") { return }
            case .misreport(let text):
                let truth = try answer(name, argument, nil)
                guard let text else { return }
                if let truth, !truth.isEmpty { try say(text) }
            default:
                guard let text = try answer(name, argument, fault) else { return }
                try say(text)
                if name == "QUIT" { return }
            }
        }
    }

    /// Executes a command.
    ///
    /// - Returns: The reply; `nil` where the connection ends.
    private func answer(_ name: String, _ argument: String, _ fault: FTPScriptServer.Fault?) throws -> String? {
        let path = absolute(argument)
        let files = server.files
        switch name {
        case "USER": return "331 a password, please"
        case "PASS": return "230 welcome"
        case "QUIT": return "221 goodbye"
        case "PWD": return "257 \"\(folder)\""
        case "TYPE", "NOOP", "OPTS", "MODE", "STRU": return "200 fine"
        case "CWD":
            folder = path
            return "250 there"
        case "MKD": return "257 \"\(path)\" made"
        case "EPSV":
            data?.close()
            let listener = try Listener(.ipv4())
            data = listener
            return "229 here (|||\(listener.port)|)"
        case "SIZE": return files[path].map { "213 \($0.count)" } ?? "550 no such file"
        case "MDTM": return files[path] == nil ? "550 no such file" : "213 20200102030405"
        case "DELE":
            guard files[path] != nil else { return "550 no such file" }
            server.state.withLock { $0.files[path] = nil }
            return "250 deleted"
        case "RNFR":
            guard files[path] != nil else { return "550 no such file" }
            renamed = path
            return "350 and now?"
        case "RNTO":
            guard let from = renamed, let bytes = files[from] else { return "503 RNFR first" }
            server.state.withLock { state in
                state.files[from] = nil
                state.files[path] = bytes
            }
            renamed = nil
            return "250 renamed"
        case "REST":
            offset = Int(argument) ?? 0
            return "350 from there"
        case "RETR":
            guard let bytes = files[path] else { return "550 no such file" }
            let start = server.state.withLock { $0.ignoresOffsets } ? 0 : offset
            offset = 0
            return try send(bytes.dropFirst(start), fault)
        case "STOR", "APPE": return try store(path, isAppended: name == "APPE", fault)
        default: return "502 not here"
        }
    }

    private func send(_ bytes: ArraySlice<UInt8>, _ fault: FTPScriptServer.Fault?) throws -> String? {
        guard let listener = data else { return "425 EPSV first" }
        guard let number = server.enter(listener.socket) else { return nil }
        defer {
            server.leave(number)
            listener.close()
            data = nil
        }
        try say("150 here it comes")
        guard let (connection, _) = listener.accept() else { return nil }
        guard let dataNumber = server.enter(connection) else {
            connection.close()
            return nil
        }
        defer {
            server.leave(dataNumber)
            connection.close()
        }
        var sent = bytes
        if case .short(let count) = fault { sent = bytes.prefix(Int(count)) }
        do {
            if !sent.isEmpty { try sent.withUnsafeBytes { try connection.send($0) } }
        } catch {
            return "426 the data connection broke"
        }
        return "226 sent"
    }

    private func store(_ path: String, isAppended: Bool, _ fault: FTPScriptServer.Fault?) throws -> String? {
        guard let listener = data else { return "425 EPSV first" }
        guard let number = server.enter(listener.socket) else { return nil }
        defer {
            server.leave(number)
            listener.close()
            data = nil
        }
        try say("150 send it")
        guard let (connection, _) = listener.accept() else { return nil }
        guard let dataNumber = server.enter(connection) else {
            connection.close()
            return nil
        }
        defer {
            server.leave(dataNumber)
            connection.close()
        }
        var limit = Int64.max
        switch fault {
        case .cut(let bytes, _), .stall(let bytes): limit = bytes
        default: break
        }
        if !isAppended { server.state.withLock { $0.files[path] = [] } }
        var taken: Int64 = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while taken < limit {
            let wanted = Int(min(Int64(buffer.count), limit - taken))
            let count = recv(connection.descriptor, &buffer, wanted, 0)
            guard count > 0 else { break }
            taken += Int64(count)
            server.state.withLock { $0.files[path, default: []] += buffer[..<count] }
        }
        guard taken == limit else {
            server.state.withLock { $0.stored.append(path) }
            return "226 taken"
        }
        switch fault {
        case .stall:
            _ = socket.waitForDeparture()
            return nil
        case .cut(_, let reply):
            connection.resetOnClose()
            return reply
        default: return "226 taken"
        }
    }

    private func absolute(_ argument: String) -> String {
        if argument.hasPrefix("/") { return argument }
        return folder.hasSuffix("/") ? folder + argument : folder + "/" + argument
    }

    private func say(_ text: String) throws {
        try Array((text + "\r\n").utf8).withUnsafeBytes { try socket.send($0) }
    }

    private func readLine() throws -> String {
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                let line = unread[..<end].filter { $0 != UInt8(ascii: "\r") }
                unread.removeSubrange(...end)
                return String(decoding: line, as: UTF8.self)
            }
            let count = try buffer.withUnsafeMutableBytes { try socket.receive(into: $0) }
            unread += buffer[..<count]
        }
    }
}
