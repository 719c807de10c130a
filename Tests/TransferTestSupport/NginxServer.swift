internal import Foundation
internal import Glibc

/// A real nginx on a free loopback port, with its own folder, configuration and logs. It ends with the last reference,
/// with `stop()`, and with the test process, however that ends.
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
        /// The rate of each connection in bytes a second in nginx's notation, such as `10m`.
        public var limitRate: String?
        /// Whether `PUT`, `DELETE`, `MKCOL`, `COPY` and `MOVE` write to the root folder.
        public var allowsWriting = false
        /// Whether Lua is loaded, so that a location can answer with `content_by_lua_block`.
        public var usesLua = false
        /// The certificate with which the server offers HTTPS, HTTP/2 included.
        public var certificate: ServerCertificate?
        /// Whether HTTP/2 is offered over TLS, and not only HTTP/1.1.
        public var speaksHTTP2 = true
        /// The namespace in which the server runs, on port 80 (443 with a certificate) of all addresses. `url(_:)` is
        /// usable only inside it.
        public var namespace: TestNamespace?

        public init() {}
    }

    public let port: UInt16
    private let scheme: String
    /// The folder that is served.
    public let root: String
    private let folder: TemporaryFolder
    private let process: ChildProcess

    /// - Parameter root: The served folder; a new one if `nil`.
    /// - Throws: An error if nginx is not installed, or rejects the configuration.
    public static func start(root: String? = nil, options: Options = Options()) async throws -> NginxServer {
        let binary = try binary()
        let folder = try TemporaryFolder("nginx")
        let root = try root ?? folder.folder("root")
        var failure = ""
        for _ in 0..<3 {
            // Another process may take the port before nginx does, and then another port is tried.
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

    /// Returns `http://127.0.0.1:PORT` with the path, which begins with a slash and is escaped already.
    public func url(_ path: String = "/") -> String { "\(scheme)://127.0.0.1:\(port)\(path)" }

    /// Returns the requests answered so far, including all whose last byte a client has.
    public func accessLog() throws -> [AccessLogEntry] {
        NginxLogBarrier.pass(in: folder.path)
        guard folder.exists("access.log") else { return [] }
        return try folder.text("access.log").split(separator: "\n").map { try AccessLogEntry(line: $0) }
    }

    public func errorLog() -> String { (try? folder.text("error.log")) ?? "" }

    /// Ends the server and its connections at once, and waits until the process is gone. The log stays readable.
    public func stop() async {
        process.kill(SIGTERM)
        _ = try? await process.result()
    }

    /// Ends the server after the requests under way.
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

    /// nginx writes its process ID once its sockets listen. A successful connect alone could have reached another
    /// program.
    private static func isReady(_ process: ChildProcess, folder: TemporaryFolder) async -> Bool {
        for _ in 0..<2_000 {
            // The pid file alone is insufficient. nginx postpones a signal from before the first worker until the next
            // signal, which may never come, since it waits in sigsuspend(2).
            if let log = try? folder.text("error.log"), log.contains("start worker process ") { return true }
            guard process.isRunning else { return false }
            // Another process writes the file, so there is no event to await. 5 ms are short compared with nginx's
            // start.
            try? await Task.sleep(for: .milliseconds(5))
        }
        return false
    }
}
