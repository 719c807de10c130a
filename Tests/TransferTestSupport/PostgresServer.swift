internal import Foundation
internal import Glibc

/// A real PostgreSQL server with its own folder, which listens on a Unix socket and optionally on TCP. It ends with the
/// test process, and removes its folder.
public final class PostgresServer: Sendable {
    public struct Options: Sendable {
        /// The certificate with which the server also listens on TCP, at a free port of 127.0.0.1 or in the namespace.
        /// The login `guarded` needs its password there.
        public var certificate: ServerCertificate?
        /// The namespace in which the server listens on TCP at `TestNetwork.server`, on the usual port.
        public var namespace: TestNamespace?

        public init() {}
    }

    /// Creates the database if there is none, and runs the server until it is asked to end. A server that is killed
    /// otherwise leaves the folder for the next one.
    private static let script = """
        [ -d "$2/data" ] || "$1/initdb" -D "$2/data" -A trust -U transfer -E UTF8 --locale=C --no-sync \\
            --no-instructions >"$2/log" 2>&1 || exit 1
        shift 2
        "$@" >>"$0" 2>&1 &
        child=$!
        trap 'ended=yes; kill -QUIT $child' TERM INT
        wait $child
        [ -z "$ended" ] || { wait $child; rm -rf -- "${0%/log}"; }
        """

    private let path: String
    private let options: Options
    private let process: ChildProcess
    /// The port on TCP, which is also in the name of the Unix socket.
    public let port: UInt16

    /// Whether the suites of this server run: if it is installed, or required (`TRANSFER_PEERS=required`).
    public static let isWanted = Peer.isWanted(
        "PostgreSQL", package: "postgresql-15", isInstalled: programs != nil)

    /// The shared server for all suites that need only a queue of their own.
    public static var shared: PostgresServer {
        get async throws { try await sharedTask.value }
    }

    private static let sharedTask = Task { try await start() }

    public static func start(_ options: Options = Options()) async throws -> PostgresServer {
        try await run(in: newFolder(), options)
    }

    /// Starts a standby of this server, which listens on a socket of its own. Replication is asynchronous until the
    /// server's `synchronous_standby_names` lists the standby.
    public func startStandby() async throws -> PostgresServer {
        let folder = try Self.newFolder()
        var words = [
            "\(Self.programs ?? "")/pg_basebackup", "-D", folder + "/data", "-R", "-X", "stream", "-c", "fast",
        ]
        words += ["-h", path, "-p", "\(port)", "-U", "transfer"]
        let command = ChildProcess.Command(
            "/usr/bin/env", Self.demoted(words), environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"],
            workingFolder: folder, timeout: .seconds(60))
        let result = try await ChildProcess.start(command).result()
        guard result.exitCode == 0 else { throw TestSupportError(result.standardError) }
        return try await Self.run(in: folder, Options())
    }

    private static func newFolder() throws -> String {
        // The server itself removes the folder, since it outlives the last reference.
        var template = Array(
            "\(ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp")/transfer-postgres.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestSupportError.system("mkdtemp", errno) }
        let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        if let user = unprivileged { chown(path, user.pw_uid, user.pw_gid) }
        return path
    }

    /// Returns a command that runs as the server's user.
    private static func demoted(_ words: [String]) -> [String] {
        guard let user = unprivileged else { return words }
        let name = String(cString: user.pw_name)
        return ["setpriv", "--reuid=\(name)", "--regid=\(user.pw_gid)", "--clear-groups"] + words
    }

    /// Starts a server again with the same databases, after ``kill()``.
    public func startAgain() async throws -> PostgresServer { try await Self.run(in: path, options) }

    private static func run(in path: String, _ options: Options) async throws -> PostgresServer {
        guard let programs else {
            throw TestSupportError("PostgreSQL is not installed (Debian's package postgresql-15)")
        }
        let access = try PostgresAccessFiles(in: path, certificate: options.certificate, owner: unprivileged)
        for _ in 0..<20 {
            let port = options.certificate == nil || options.namespace != nil ? 5432 : try LoopbackPort.free()
            let host = options.namespace != nil ? TestNetwork.server : options.certificate == nil ? "" : "127.0.0.1"
            var arguments = ["/bin/sh", "-c", script, path + "/log", programs, path]
            arguments += [programs + "/postgres", "-D", path + "/data", "-k", path]
            let settings =
                [
                    "listen_addresses=\(host)", "port=\(port)", "fsync=off", "max_connections=200",
                    "shared_buffers=32MB", "unix_socket_permissions=0777",
                ] + access.settings
            for setting in settings { arguments += ["-c", setting] }
            var command = ChildProcess.Command(
                "/usr/bin/env", demoted(arguments), environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"],
                workingFolder: path,
                timeout: .seconds(3600))
            if let namespace = options.namespace { command = try namespace.command(command) }
            let process = try ChildProcess.start(command)
            let server = PostgresServer(path, options, process, port: port)
            if await Peer.isReady(process, { server.isReady }) { return server }
            process.kill(SIGKILL)
            // The kernel frees the resources of a killed server with the last of its processes.
            let log = (try? String(contentsOfFile: path + "/log", encoding: .utf8)) ?? ""
            guard log.contains("in use") else { throw TestSupportError("PostgreSQL does not start: \(log)") }
            _ = try? await process.result()
        }
        throw TestSupportError("PostgreSQL does not start again")
    }

    private init(_ path: String, _ options: Options, _ process: ChildProcess, port: UInt16) {
        self.path = path
        self.options = options
        self.process = process
        self.port = port
    }

    /// The path of the Unix socket.
    var socket: String { "\(path)/.s.PGSQL.\(port)" }

    /// Returns the address of a queue for a login. The first login has all rights.
    public func url(queue: String, login: String = "transfer") -> String {
        let host = path.replacingOccurrences(of: "/", with: "%2F")
        return "postgres://\(login)@\(host):\(port)/postgres?queue=\(queue)"
    }

    /// Returns the address over TCP, with a host name of the server.
    ///
    /// - Parameter parameters: Parameters of libpq, each with a leading ampersand.
    public func url(
        queue: String, at name: String, login: String = "transfer", _ parameters: String = ""
    ) -> String {
        "postgres://\(login)@\(name):\(port)/postgres?queue=\(queue)\(parameters)"
    }

    /// Runs statements as a login, with psql as an administrator would.
    ///
    /// - Returns: The rows, with bars between their values.
    @discardableResult
    public func ask(_ sql: String, as login: String = "transfer") async throws -> String {
        let psql = ["\(Self.programs ?? "")/psql", "-XqAt", "-v", "ON_ERROR_STOP=1"]
        let command = ChildProcess.Command(
            "/usr/bin/env", psql + ["-h", path, "-p", "\(port)", "-U", login, "-d", "postgres", "-c", sql],
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"], workingFolder: path, timeout: .seconds(60))
        let result = try await ChildProcess.start(command).result()
        guard result.exitCode == 0 else { throw TestSupportError(result.standardError) }
        return result.standardOutput.trimmingCharacters(in: .newlines)
    }

    /// Makes a login that has parts in an existing queue, and no other rights.
    ///
    /// - Returns: The name of the login.
    public func login(_ parts: String..., in queue: String) async throws -> String {
        let name = "u\(UInt64.random(in: 0 ... .max))"
        let allowed = parts.map { "SELECT transfer_\(queue).allow('\(name)', '\($0)');" }
        _ = try await ask("CREATE ROLE \(name) LOGIN; \(allowed.joined(separator: " "))")
        return name
    }

    /// Ends the server like a crash, and waits until its processes are gone.
    public func kill() async throws {
        guard let number = lines.first.flatMap({ Int32($0) }) else {
            throw TestSupportError("PostgreSQL is not running")
        }
        // The client processes continue without the first process until they notice.
        let others = ProcessFacts.children(of: number)
        for process in [number] + others { Glibc.kill(process, SIGKILL) }
        _ = try? await process.result()
        unlink(path + "/data/postmaster.pid")
    }

    /// Stops all processes like a hung machine: the kernel accepts connections, and no answer comes.
    public func freeze() throws { try signal(SIGSTOP) }

    /// Resumes all processes after ``freeze()``.
    public func thaw() throws { try signal(SIGCONT) }

    private func signal(_ signal: Int32) throws {
        guard let number = lines.first.flatMap({ Int32($0) }) else {
            throw TestSupportError("PostgreSQL is not running")
        }
        // The first process is stopped first, after which it starts no other process.
        Glibc.kill(number, signal)
        for process in ProcessFacts.children(of: number) { Glibc.kill(process, signal) }
    }

    /// Ends the server, and removes its folder.
    public func stop() async {
        process.kill(SIGTERM)
        _ = try? await process.result()
        // A server that was killed before has left the folder.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The lines of the file in which a server records its state (PostgreSQL's manual, "Database File Layout").
    private var lines: [String] {
        ((try? String(contentsOfFile: path + "/data/postmaster.pid", encoding: .utf8)) ?? "").components(
            separatedBy: "\n")
    }

    private var isReady: Bool {
        // The server may rewrite the file between two reads.
        let lines = lines
        return lines.count > 7 && (lines[7].hasPrefix("ready") || lines[7].hasPrefix("standby"))
    }

    /// The folder of the server programs, which Debian does not add to `PATH`.
    private static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).compactMap { Int($0) }
        let folders = versions.sorted().reversed().map { "\(root)/\($0)/bin" } + ["/usr/local/bin", "/usr/bin"]
        return folders.first { FileManager.default.isExecutableFile(atPath: $0 + "/initdb") }
    }()

    /// The user who runs the server, which refuses to run as root.
    private static var unprivileged: passwd? {
        guard geteuid() == 0 else { return nil }
        return (getpwnam("postgres") ?? getpwnam("nobody"))?.pointee
    }
}
