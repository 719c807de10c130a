internal import Foundation
internal import Glibc

/// A real nginx on a free loopback port, with a folder, configuration and logs of its own. It ends with the last
/// reference, with `stop()`, and with the test process, however that ends.
public final class NginxServer: Sendable {
    public struct Options: Sendable {
        /// Directives for `location /`, each with its semicolon.
        public var location = ""
        /// Directives and locations for `server`.
        public var server = ""
        /// Directives outside of `http`, such as modules and `stream`.
        public var main = ""
        /// Directives for `http`.
        public var http = ""
        /// Bytes a second for each connection in nginx's notation, such as `10m`.
        public var limitRate: String?
        /// `PUT`, `DELETE`, `MKCOL`, `COPY` and `MOVE` write to the root folder.
        public var allowsWriting = false
        /// Loads Lua, so that a location can answer with `content_by_lua_block`.
        public var usesLua = false
        /// Serves HTTPS, HTTP/2 included, with this certificate.
        public var certificate: ServerCertificate?
        /// Over TLS; else HTTP/1.1 alone.
        public var speaksHTTP2 = true
        /// Runs there, on port 80 (443 with a certificate) of all addresses: `url(_:)` is of use only inside.
        public var namespace: TestNamespace?

        public init() {}
    }

    public let port: UInt16
    private let scheme: String
    /// The folder that is served.
    public let root: String
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// - Parameter root: The folder to serve; one of its own when `nil`.
    /// - Throws: When nginx is not installed, or does not accept the configuration.
    public static func start(root: String? = nil, options: Options = Options()) async throws -> NginxServer {
        let binary = try binary()
        let folder = try TemporaryFolder("nginx")
        let root = try root ?? folder.folder("root")
        var failure = ""
        for _ in 0..<3 {
            // Another process can take the port before nginx does; then with another one.
            let port =
                options.namespace == nil ? try LoopbackPort.free() : options.certificate == nil ? 80 : 443
            let configuration = NginxConfiguration(folder: folder.path, root: root, port: port, options: options)
            try folder.write(configuration.text(), to: "nginx.conf")
            try? FileManager.default.removeItem(atPath: folder.path("nginx.pid"))
            var command = ChildProcess.Command(
                binary, ["-p", folder.path, "-c", folder.path("nginx.conf")],
                environment: ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin"], timeout: .seconds(3600))
            if let namespace = options.namespace { command = try namespace.command(command) }
            let process = try ChildProcess.start(command)
            if await isReady(process, folder: folder) {
                return NginxServer(
                    port: port, scheme: options.certificate == nil ? "http" : "https", root: root, folder: folder,
                    process: process)
            }
            process.kill(SIGKILL)
            failure = (try? await process.result().standardError) ?? ""
            failure += (try? folder.text("error.log")) ?? ""
            guard failure.contains("Address already in use") else { break }
        }
        throw TestSupportError("nginx does not start: \(failure)")
    }

    private init(port: UInt16, scheme: String, root: String, folder: TemporaryFolder, process: ChildProcess) {
        self.port = port
        self.scheme = scheme
        self.root = root
        self.folder = folder
        self.process = process
    }

    deinit { process.kill(SIGTERM) }

    public var processID: Int32 { process.processID }

    /// `http://127.0.0.1:PORT` and the path, which begins with a slash and is escaped already.
    public func url(_ path: String = "/") -> String { "\(scheme)://127.0.0.1:\(port)\(path)" }

    /// The requests answered so far, with all whose last byte a client has.
    public func accessLog() throws -> [AccessLogEntry] {
        NginxLogBarrier.pass(in: folder.path)
        guard folder.exists("access.log") else { return [] }
        return try folder.text("access.log").split(separator: "\n").map { try AccessLogEntry(line: $0) }
    }

    public func errorLog() -> String { (try? folder.text("error.log")) ?? "" }

    /// Ends it at once, connections under way included, and waits until it is gone. The log stays readable.
    public func stop() async {
        process.kill(SIGTERM)
        _ = try? await process.result()
    }

    /// Ends it after the requests under way.
    public func stopGracefully() async {
        process.kill(SIGQUIT)
        _ = try? await process.result()
    }

    /// The path of nginx.
    public static func binary() throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        for folder in path.split(separator: ":").map(String.init) + ["/usr/sbin", "/usr/local/sbin"] {
            let candidate = folder + "/nginx"
            if FileManager.default.isExecutableFile(atPath: candidate) { return candidate }
        }
        throw TestSupportError("nginx is not installed; `make setup` installs it (Debian's package nginx-extras)")
    }

    /// nginx writes its process ID once its sockets listen; a successful connect alone could be another program's.
    private static func isReady(_ process: ChildProcess, folder: TemporaryFolder) async -> Bool {
        for _ in 0..<2_000 {
            // Not its pid file alone: a signal that comes before the first worker is put off until the next one comes
            // (nginx waits in sigsuspend(2) without a look at what it was told before), which may be never.
            if let log = try? folder.text("error.log"), log.contains("start worker process ") { return true }
            guard process.isRunning else { return false }
            // The file is another process's: there is no event to await, and 5 ms are short beside nginx's start.
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }
}
