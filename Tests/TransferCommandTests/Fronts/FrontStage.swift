import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A working folder with a server, in which a shell runs a line.
struct FrontStage {
    struct Outcome {
        var result: ProcessResult
        /// The files in the working folder, with their content.
        var files: [String: String]
        /// The requests that change something, in their order: method, target, body length. Boundaries of forms differ
        /// in their length.
        var changes: [String]
        /// The targets that were asked for.
        var asked: Set<String>
    }

    private let place: TemporaryFolder

    init() throws { place = try TemporaryFolder("front") }

    /// Runs a line.
    ///
    /// - Parameter front: The tool whose name means the front in the shell; `nil` for the tool itself.
    func run(_ row: FrontLineRow, with front: String?) async throws -> Outcome {
        try await withTestServer { server in
            try await Self.prepare(server)
            let work = place.path("work")
            let home = place.path("home")
            for folder in [work, home] {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            try place.write("machine 127.0.0.1 login me password secret\n", to: "home/.netrc")
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.path("home/.netrc"))
            let named = FrontLines.files.merging(row.before) { $1 }
            for (name, text) in named {
                try place.write(text.replacing("$U", with: server.url("")), to: "work/\(name)")
            }
            let alias = front.map { "\($0)() { \"$TRANSFER\" \($0) \"$@\"; }\n" } ?? ""
            var command = ChildProcess.Command(
                "/bin/sh", ["-c", alias + row.line],
                environment: [
                    "PATH": "/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "TZ": "UTC",
                    "TRANSFER": try TransferCommand.binary(), "TRANSFER_STATE": place.path("state"),
                    "U": server.url(""), "H": String(server.url("").dropFirst("http://".count)),
                    "SUM": try await digest("sha256", Array("body of /a.txt".utf8)),
                    "WRONG": try await digest("sha256", Array("another".utf8)),
                ], workingFolder: work)
            command.standardInput = .none
            let result = try await ChildProcess.start(command).result()
            let requests = server.requests
            let changes = requests.filter { $0.method != "GET" && $0.method != "HEAD" }
                .map { "\($0.method) \($0.target) \($0.path == "/form" ? 0 : $0.bodyLength)" }
            return Outcome(
                result: result,
                files: try files(in: work, of: server).filter { named[$0.key] == nil || row.before[$0.key] != nil },
                changes: changes, asked: Set(requests.map(\.path)))
        }
    }

    private func files(in folder: String, of server: TestServer) throws -> [String: String] {
        var files: [String: String] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            var isFolder: ObjCBool = false
            let path = folder + "/" + name
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
                continue
            }
            let data = try Data(contentsOf: URL(fileURLWithPath: path))
            files[name] =
                data.count > 4_096
                ? "\(data.count): \(sum(data))"
                : String(decoding: data, as: UTF8.self).replacing(server.url(""), with: "$U")
        }
        return files
    }

    private func sum(_ data: Data) -> UInt64 {
        data.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 }
    }

    // MARK: The server

    private static func prepare(_ server: TestServer) async throws {
        let texts = [
            "/a.txt", "/b.txt", "/dir/file.tar.gz", "/img1.jpg", "/img2.jpg", "/img3.jpg", "/img01.jpg", "/img02.jpg",
            "/img03.jpg", "/one.txt", "/two.txt", "/a b.txt", "/a%20b.txt", "/", "/shy", "/flaky",
        ]
        for path in texts {
            server.serve(path, ServedFile(.text("body of \(path)"), etag: "\"1\"", lastModified: 1_600_000_000))
        }
        server.serve("/install.sh", .text("echo \"installed $1\"\n"))
        server.serve("/big", .random(seed: 7, count: 3_000_000), etag: "\"7\"")
        server.serve("http://host.example/px", .text("through the proxy"))
        var named = ServedFile(.text("named"), etag: "\"2\"")
        named.headers = ["Content-Disposition": "attachment; filename=\"named.txt\""]
        server.serve("/named", named)
        server.script("/flaky", [.status(503)])
        server.script("/shy", [.status(404)])
        server.handle(nil, "/redir") { _ in
            Response(status: 302, headers: ["Location": "/a.txt"], body: .text("moved"))
        }
        server.handle(nil, "/back") { _ in Response(status: 302, headers: ["Location": "/echo"]) }
        server.handle(nil, "/see") { _ in Response(status: 303, headers: ["Location": "/echo"]) }
        server.handle(nil, "/login") { _ in
            Response(headers: ["Set-Cookie": "sid=7; Path=/"], body: .text("let in"))
        }
        server.handle(nil, "/length") { Response(body: .text($0.headers["Content-Length"] ?? "none")) }
        server.handle(nil, "/echo", echo)
        server.handle(nil, "/made") { _ in Response(status: 201, body: .text("made")) }
        server.handle(nil, "/gone") { _ in Response(status: 204) }
        server.handle(nil, "/form", form)
        server.handle(nil, "/agent") { Response(body: .text($0.headers["User-Agent"] ?? "none")) }
        server.handle(nil, "/auth") { request in
            request.headers["Authorization"] == "Basic bWU6c2VjcmV0"
                ? Response(body: .text("let in"))
                : Response(status: 401, headers: ["WWW-Authenticate": "Basic realm=\"x\""])
        }
        server.handle(nil, "/gz") { _ in Response(body: .text("plain or not")) }
        server.acceptUploads("/in/*", answer: Response(status: 201, body: .text("stored\n")))
    }

    /// Answers with what the request says.
    private static let echo: @Sendable (Request) -> Response = { request in
        var lines = ["\(request.method) \(request.target)"]
        for name in ["Content-Type", "Authorization", "Cookie", "Referer", "X-A", "X-B", "X-Key"] {
            for field in request.headers.fields where field.name.lowercased() == name.lowercased() {
                lines.append("\(name): \(field.value)")
            }
        }
        lines.append(String(decoding: request.body, as: UTF8.self))
        return Response(body: .text(lines.joined(separator: "\n") + "\n"))
    }

    /// Answers with the parts of a form, without the boundary and its lines' other headers.
    private static let form: @Sendable (Request) -> Response = { request in
        let type = request.headers["Content-Type"] ?? ""
        let boundary = type.split(separator: "boundary=").last.map(String.init) ?? "none"
        let body = String(decoding: request.body, as: UTF8.self)
        let parts = body.components(separatedBy: "--" + boundary.filter { $0 != "\"" }).map { part in
            let halves = part.components(separatedBy: "\r\n\r\n")
            let names = halves[0].matches(of: #/name="([^"]*)"/#).map { String($0.output.1) }
            return "\(names.sorted()): \(halves.dropFirst().joined())"
        }
        return Response(body: .text(parts.sorted().joined(separator: "\n")))
    }
}
