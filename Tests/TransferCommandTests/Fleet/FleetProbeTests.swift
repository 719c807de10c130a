import Foundation
import Glibc
import Testing
import TransferTestSupport

@testable import transfer

/// `transfer work --listen`: the health and the metrics of a worker.
@Suite(.enabled(if: PostgresServer.isWanted), .timeLimit(.minutes(2))) struct FleetProbeTests {
    /// Returns the status and the body that curl received.
    private func ask(_ url: String, _ options: String...) async throws -> (status: String, body: String) {
        let result = try await ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/curl",
                ["-sS", "--noproxy", "*", "--max-time", "20", "-w", "\n%{http_code}"] + options + [url],
                environment: ["PATH": "/usr/bin:/bin"])
        ).result()
        let lines = result.standardOutput.split(separator: "\n", omittingEmptySubsequences: false)
        return (String(lines.last ?? ""), lines.dropLast().joined(separator: "\n"))
    }

    /// Returns the address that the worker reports.
    private func address(_ worker: ChildProcess) async throws -> String {
        let line = try await worker.line { $0.contains("/healthz and /metrics at ") }
        let url = line.split(separator: " ").last.map(String.init) ?? ""
        return url.trimmingCharacters(in: CharacterSet(charactersIn: "\"}"))
    }

    @Test func metricsCountTheJobsAndWorkersOfTheWholeQueue() async throws {
        let fleet = try await FleetPlace()
        let tagged = #""worker": {"tags": ["gpu"]}"#
        try fleet.place.jobs((0..<2).map { download("http://192.0.2.1/\($0)", to: "\($0)", tagged) })
        try await fleet.bring()
        let before = Date()
        let workers = [try fleet.worker("a", "--listen", "127.0.0.1:0", "-j", "3"), try fleet.worker("b")]
        for worker in workers { try await worker.begins() }
        let url = try await address(workers[0])
        let answer = try await ask(url + "/metrics")
        #expect(answer.status == "200")
        for line in [
            "transfer_queue_ready_jobs 0", "transfer_queue_ready_jobs{tags=\"gpu\"} 2",
            "transfer_queue_claimed_jobs 0", "transfer_queue_places_in_use 0", "transfer_workers{state=\"alive\"} 2",
            "transfer_workers{state=\"lost\"} 0", "transfer_worker_places 3", "transfer_leases_lost_total 0",
        ] { #expect(answer.body.contains(line + "\n"), "\(line) in\n\(answer.body)") }
        let oldest = answer.body.split(separator: "\n").first {
            $0.hasPrefix("transfer_queue_oldest_ready_timestamp_seconds{tags=\"gpu\"} ")
        }
        let time = try #require(oldest?.split(separator: " ").last.flatMap { Double($0) })
        #expect(time <= before.timeIntervalSince1970 + 1 && time > before.timeIntervalSince1970 - 60)
        try await fleet.stop(workers[0], workers[1])
    }

    @Test func theHealthIsThatOfTheDatabase() async throws {
        let database = try await PostgresServer.start()
        let fleet = try await FleetPlace(on: database)
        let worker = try fleet.worker("a", "--listen", "0")
        try await worker.begins()
        let url = try await address(worker)
        #expect(try await ask(url + "/healthz").status == "204")
        try await database.kill()
        _ = try await worker.line { $0.contains("the queue's database is away") }
        let answer = try await ask(url + "/healthz")
        #expect(answer.status == "503" && answer.body.contains("the queue's database is away: "), "\(answer)")
        let metrics = try await ask(url + "/metrics")
        #expect(
            metrics.status == "200" && !metrics.body.contains("transfer_queue_ready_jobs")
                && metrics.body.contains("transfer_worker_places"), "\(metrics)")
        worker.kill(SIGTERM)
        #expect(try await worker.result().exitCode == 0)
        await database.stop()
    }

    @Test func aSocketOfItsUserIsAnsweredAndRemoved() async throws {
        let fleet = try await FleetPlace()
        let path = fleet.folder.path("probes")
        let worker = try fleet.worker("a", "--listen", "unix:\(path)")
        try await worker.begins()
        #expect(try await ask("http://worker/healthz", "--unix-socket", path).status == "204")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try await fleet.stop(worker)
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func silentClientsDoNotKeepOthersOut() async throws {
        let fleet = try await FleetPlace()
        let worker = try fleet.worker("a", "--listen", "127.0.0.1:0")
        try await worker.begins()
        let url = try await address(worker)
        let port = try #require(url.split(separator: ":").last.flatMap { UInt16($0) })
        var silent: [Int32] = []
        defer { for descriptor in silent { close(descriptor) } }
        for _ in 0..<200 {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var name = sockaddr_in()
            name.sin_family = sa_family_t(AF_INET)
            name.sin_port = in_port_t(port).bigEndian
            name.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
            let result = withUnsafePointer(to: &name) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            #expect(result == 0)
            silent.append(descriptor)
        }
        let asked = ContinuousClock.now
        #expect(try await ask(url + "/healthz").status == "204")
        #expect(ContinuousClock.now - asked < .seconds(1))
        try await fleet.stop(worker)
    }

    @Test func onlyAddressesOfThisMachineAreTaken() async throws {
        let fleet = try await FleetPlace()
        for (text, words) in [
            ("0.0.0.0:9400", "is not an address of this machine alone"), ("somewhere", "is no address to listen at"),
            ("unix:probes", "the path of a socket is absolute"),
        ] {
            let result = try await fleet.command(["work", "--queue", fleet.queue, "--listen", text]).run()
            #expect(result.exitCode == 64 && result.standardError.contains(words), "\(result)")
        }
    }
}

/// The decisions of the probes' server.
@Suite struct ProbeRequestTests {
    private func request(_ text: String) -> ProbeRequest { ProbeRequest(Array(text.utf8)) }

    private func route(_ text: String, isOnNetwork: Bool = true) throws -> ProbeRoute {
        guard case .complete(let head) = request(text) else {
            throw TestSupportError("\(text) is no request")
        }
        return ProbeRoute(head, isOnNetwork: isOnNetwork)
    }

    private func status(_ route: ProbeRoute) -> String? {
        guard case .refused(let answer) = route else { return nil }
        return String(answer.status.prefix(3))
    }

    @Test func aHeadIsReadToItsEmptyLine() {
        #expect(request("GET /healthz HTTP/1.1\r\nHost: localhost\r\n") == .incomplete)
        #expect(
            request("GET /healthz?x HTTP/1.1\r\nHost:  localhost \r\n\r\n")
                == .complete(.init(method: "GET", path: "/healthz", host: "localhost")))
        #expect(request("GET /metrics HTTP/1.0\n\n") == .complete(.init(method: "GET", path: "/metrics", host: nil)))
        #expect(request("\u{16}\u{3}\u{1}\r\n\r\n") == .malformed)
        #expect(request("GET http://h.example/ HTTP/1.1\r\n\r\n") == .malformed)
        #expect(request("GET / HTTP/1.1\r\nX: " + String(repeating: "x", count: ProbeRequest.longest)) == .tooLong)
    }

    @Test func pathsAndMethodsAreAnswered() throws {
        #expect(try route("GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:9400\r\n\r\n") == .health)
        #expect(try route("HEAD /metrics HTTP/1.1\r\nHost: [::1]:9400\r\n\r\n") == .metrics)
        #expect(try status(route("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")) == "404")
        let refused = try route("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        #expect(status(refused) == "405")
        if case .refused(let answer) = refused { #expect(answer.fields.contains("Allow: GET, HEAD")) }
    }

    @Test func aNameOfAnotherSiteIsRefused() throws {
        let text = "GET /metrics HTTP/1.1\r\nHost: rebound.example:9400\r\n\r\n"
        #expect(try status(route(text)) == "421")
        #expect(try route(text, isOnNetwork: false) == .metrics)
    }

    @Test func aHeadHasTheLengthOfItsText() {
        var answer = ProbeAnswer.health("away")
        let whole = String(decoding: answer.bytes, as: UTF8.self)
        answer.isHeadOnly = true
        let head = String(decoding: answer.bytes, as: UTF8.self)
        #expect(whole == head + "away\n" && head.contains("Content-Length: 5\r\n") && head.contains("Retry-After: 5"))
        #expect(!String(decoding: ProbeAnswer.health(nil).bytes, as: UTF8.self).contains("Content-Length"))
    }
}
