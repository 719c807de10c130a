import Foundation
import Testing
import TransferTestSupport

/// Two machines, nginx on one of them, and a folder to run the command in on the other.
final class NetworkStage: Sendable {
    let network: TestNetwork
    let server: NginxServer
    let place: Workplace

    var client: TestNamespace { network.client }
    var peer: TestNamespace { network.peer }

    private init(network: TestNetwork, server: NginxServer, place: Workplace) {
        self.network = network
        self.server = server
        self.place = place
    }

    /// - Parameters:
    ///   - isConnected: Whether there is a link, `eth0`, with an address and a default route.
    ///   - limitRate: As nginx has it. It sends the bytes of one second at once at first.
    static func with(
        isConnected: Bool = true, limitRate: String? = nil, configure: (inout NginxServer.Options) -> Void = { _ in },
        _ body: (NetworkStage) async throws -> Void
    ) async throws {
        try await withTestNetwork { network in
            var options = NginxServer.Options()
            options.namespace = network.peer
            options.limitRate = limitRate
            // A client that is gone without a word is noticed, and its request logged, while the test looks.
            options.http = "send_timeout 3s; reset_timedout_connection on;"
            configure(&options)
            let server = try await NginxServer.start(options: options)
            if isConnected { try await network.connect("eth0", 0) }
            try await body(NetworkStage(network: network, server: server, place: Workplace("network")))
        }
    }

    /// A URL at the server's address, or at another of its addresses or names.
    func url(_ path: String, at host: String = TestNetwork.server) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host)\(path)"
    }

    /// A file of random bytes on the server.
    /// - Returns: Its SHA-256.
    func serve(_ name: String, mebibytes: Int) async throws -> String {
        try await random("\(server.root)/\(name)", kibibytes: mebibytes << 10)
    }

    /// - Returns: The SHA-256 of the random bytes that are in the file then.
    func random(_ path: String, kibibytes: Int) async throws -> String {
        let script = "head -c \(kibibytes)K /dev/urandom | tee '\(path)' | sha256sum"
        return try await String(peer.run(script).prefix(64))
    }

    /// `transfer` with these arguments on the client, to be started; it's given 40 s.
    func command(_ arguments: String...) -> TransferCommand {
        var command = place.command(arguments)
        command.namespace = client
        command.timeout = .seconds(40)
        return command
    }

    /// Starts `transfer run jobs.json` on the client, with the progress of each job.
    func startJobs() throws -> ChildProcess { try command("run", "jobs.json", "--json=progress").start() }

    /// Waits until the server has logged so many requests that match.
    /// - Returns: Those, in the order of their ends.
    @discardableResult
    func logged(_ count: Int, where matches: (AccessLogEntry) -> Bool = { _ in true }) async throws -> [AccessLogEntry]
    {
        var entries: [AccessLogEntry] = []
        try await until("\(count) requests in nginx's log") {
            entries = try server.accessLog().filter(matches)
            return entries.count >= count
        }
        return entries
    }
}

extension [AccessLogEntry] {
    /// How many bytes of one file were asked for again: of what a request was sent, what lies behind the start of the
    /// next range. The system's buffers count as sent, which are small in a `TestNetwork`.
    var askedTwice: Int64 {
        let starts = map { (start: $0.rangeStart ?? 0, end: ($0.rangeStart ?? 0) + $0.bodyBytesSent) }
            .sorted { $0.start < $1.start }
        return zip(starts, starts.dropFirst()).reduce(0) { $0 + Swift.max(0, $1.0.end - $1.1.start) }
    }
}

extension ChildProcess {
    /// The first event that says that something waits for this.
    @discardableResult
    func waiting(for what: String, id: String? = nil) async throws -> JSONValue {
        var found: JSONValue?
        _ = try await line(.standardOutput) { line in
            guard let value = try? JSONValue.parse(Data(line.utf8)), value["for"]?.string == what,
                id == nil || value["id"]?.string == id
            else { return false }
            found = value
            return true
        }
        return try #require(found)
    }

    /// The first event of a job's progress with at least so many bytes complete.
    @discardableResult
    func progress(_ id: String, atLeast bytes: Int64) async throws -> JSONValue {
        try await event("job.progress", id: id) { ($0["completed"]?.int ?? 0) >= bytes }
    }

    /// The start that continues a job, and then the first progress beyond it.
    /// - Returns: The offset.
    func continued(_ id: String) async throws -> Int64 {
        let start = try await event("job.started", id: id) { ($0["offset"]?.int ?? 0) > 0 }
        let offset = start["offset"]?.int ?? 0
        try await progress(id, atLeast: offset + 1)
        return offset
    }
}

/// No attempt of a job was spent: none failed, and each was the first.
func expectNoAttemptSpent(_ result: ProcessResult, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let events = try result.events()
    #expect(events.named("job.retrying").isEmpty, "\(result)", sourceLocation: sourceLocation)
    #expect(
        events.named("job.started").allSatisfy { $0["attempt"]?.int == 1 }, "\(result)", sourceLocation: sourceLocation)
    #expect(
        events.named("job.finished").allSatisfy { $0["attempts"]?.int == 1 }, "\(result)",
        sourceLocation: sourceLocation)
}

/// The wait for the network was told once, of the batch and at most of the job too, and no attempt was spent on it.
///
/// - Parameter changes: How often the network may have let it go on: a link comes back in steps.
func expectOneWait(_ result: ProcessResult, changes: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) throws
{
    let events = try result.events()
    let (batch, job) = (events.named("batch.waiting").count, events.named("job.waiting").count)
    #expect(
        (1...changes).contains(batch) && job <= changes,
        "\(batch) times of the batch, \(job) times of the job: \(result.standardOutput)", sourceLocation: sourceLocation
    )
    try expectNoAttemptSpent(result, sourceLocation: sourceLocation)
}

/// What was measured, for whoever reads the log of the tests.
func printMeasured(_ what: String, since start: ContinuousClock.Instant) {
    print("measured: \(what): \((ContinuousClock.now - start).formatted(.units(allowed: [.milliseconds])))")
}
