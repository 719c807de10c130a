import Foundation
import Testing
import TransferTestSupport

/// Two machines, nginx on one of them, and a working folder for the command on the other.
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
    ///   - limitRate: The value of nginx's `limit_rate`. nginx sends the bytes of the first second at once.
    static func with(
        isConnected: Bool = true, limitRate: String? = nil, configure: (inout NginxServer.Options) -> Void = { _ in },
        _ body: (NetworkStage) async throws -> Void
    ) async throws {
        try await withTestNetwork { network in
            var options = NginxServer.Options()
            options.namespace = network.peer
            options.limitRate = limitRate
            // The server notices a vanished client, and logs its request, during the test.
            options.http = "send_timeout 3s; reset_timedout_connection on;"
            configure(&options)
            let server = try await NginxServer.start(options: options)
            if isConnected { try await network.connect("eth0", 0) }
            try await body(NetworkStage(network: network, server: server, place: Workplace("network")))
        }
    }

    /// Returns a URL at the server's address, or at another of its addresses or names.
    func url(_ path: String, at host: String = TestNetwork.server) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host)\(path)"
    }

    /// Writes a file of random bytes on the server.
    /// - Returns: The SHA-256 of the file.
    func serve(_ name: String, mebibytes: Int) async throws -> String {
        try await random("\(server.root)/\(name)", kibibytes: mebibytes << 10)
    }

    /// Writes random bytes to a file.
    /// - Returns: The SHA-256 of the file.
    func random(_ path: String, kibibytes: Int) async throws -> String {
        let script = "head -c \(kibibytes)K /dev/urandom | tee '\(path)' | sha256sum"
        return try await String(peer.run(script).prefix(64))
    }

    /// Returns `transfer` with these arguments on the client, with a limit of 40 s.
    func command(_ arguments: String...) -> TransferCommand {
        var command = place.command(arguments)
        command.namespace = client
        command.timeout = .seconds(40)
        return command
    }

    /// Starts `transfer run jobs.json` on the client, with the progress of each job.
    func startJobs() throws -> ChildProcess { try command("run", "jobs.json", "--json=progress").start() }

    /// Returns the bytes that have arrived at the client over `eth0`, with their headers, which are at most 5 % of them
    /// (66 of 1514).
    func bytesArrived() async throws -> Int64 {
        let text = try await client.run("awk '$1 == \"eth0:\" { print $2 }' /proc/net/dev")
        return try #require(Int64(text.trimmingCharacters(in: .whitespacesAndNewlines)))
    }

    /// Waits until the server has logged this number of matching requests.
    /// - Returns: The matching requests, in the order of their ends.
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
    /// The number of bytes of one file that were requested again: the sent bytes of a request behind the start of the
    /// next range. The system's buffers count as sent; they are small in a `TestNetwork`.
    var askedTwice: Int64 {
        let starts = map { (start: $0.rangeStart ?? 0, end: ($0.rangeStart ?? 0) + $0.bodyBytesSent) }
            .sorted { $0.start < $1.start }
        return zip(starts, starts.dropFirst()).reduce(0) { $0 + Swift.max(0, $1.0.end - $1.1.start) }
    }
}

extension ChildProcess {
    /// Returns the first event that reports a wait for this reason.
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

    /// Returns the first event of a job's progress with at least this number of complete bytes.
    @discardableResult
    func progress(_ id: String, atLeast bytes: Int64) async throws -> JSONValue {
        try await event("job.progress", id: id) { ($0["completed"]?.int ?? 0) >= bytes }
    }

    /// Waits for the start that continues a job, and then for the first progress beyond it.
    /// - Returns: The offset.
    func continued(_ id: String) async throws -> Int64 {
        let start = try await event("job.started", id: id) { ($0["offset"]?.int ?? 0) > 0 }
        let offset = start["offset"]?.int ?? 0
        try await progress(id, atLeast: offset + 1)
        return offset
    }
}

/// Expects that no attempt of a job was spent: none failed, and each was the first.
func expectNoAttemptSpent(_ result: ProcessResult, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let events = try result.events()
    #expect(events.named("job.retrying").isEmpty, "\(result)", sourceLocation: sourceLocation)
    #expect(
        events.named("job.started").allSatisfy { $0["attempt"]?.int == 1 }, "\(result)", sourceLocation: sourceLocation)
    #expect(
        events.named("job.finished").allSatisfy { $0["attempts"]?.int == 1 }, "\(result)",
        sourceLocation: sourceLocation)
}

/// Expects that the wait for the network was reported once for the batch and at most once for the job, and that no
/// attempt was spent.
///
/// - Parameter changes: The number of times that the network may have ended the wait: a link comes back in steps.
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

/// Prints a measurement for readers of the tests' log.
func printMeasured(_ what: String, since start: ContinuousClock.Instant) {
    print("measured: \(what): \((ContinuousClock.now - start).formatted(.units(allowed: [.milliseconds])))")
}
