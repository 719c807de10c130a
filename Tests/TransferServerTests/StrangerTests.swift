import Foundation
import Logging
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferServer

/// The costs and the rights of clients that are not known, and of pages of other sites.
@Suite(.timeLimit(.minutes(2))) struct StrangerTests {
    private static let shutdown = "/jsonrpc?method=aria2.shutdown&id=1&params=\(Data("[]".utf8).base64EncodedString())"

    // MARK: Pages of other sites

    /// The fields are those of browsers (W3C Fetch Metadata), and the verdict is whether the request is refused.
    @Test(arguments: [
        ("cross-site", "no-cors", nil, true), ("cross-site", "cors", "https://evil.example", true),
        ("same-site", "no-cors", nil, true), ("cross-site", "navigate", nil, false),
        ("same-origin", "cors", nil, false), ("none", "navigate", nil, false), (nil, nil, nil, false),
        ("cross-site", "cors", "https://files.example", false),
    ])
    func aPageOfAnotherSiteIsRefused(site: String?, mode: String?, origin: String?, isForeign: Bool) {
        var access = AccessRules()
        access.origins = ["https://files.example"]
        #expect(access.isForeign(site: site, mode: mode, origin: origin) == isForeign)
    }

    @Test func anImageOfAnotherPageSteersNothing() async throws {
        try await withService(["--no-secret"]) { place in
            let image = try await place.ask(
                Self.shutdown, headers: ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], secret: nil)
            #expect(image.status == 403, "\(image.text)")
            let get = try await place.ask(Self.shutdown, secret: nil)
            #expect(get.status == 400 && get.text.contains("a GET changes nothing"), "\(get.text)")
            let version = try await place.ask("/jsonrpc?method=aria2.getVersion&id=1", secret: nil)
            #expect(version.status == 200 && version.text.contains("enabledFeatures"))
            #expect(try await place.ask("/healthz").status == 204)
        }
    }

    // MARK: Secrets

    /// The first few are answered at once, as a person may mistype a secret.
    @Test func wrongSecretsAreSlowedAndReportedOnceAMinute() {
        let secrets = WrongSecrets(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let start = ContinuousClock.now
        let pauses = (0..<10).map { _ in secrets.note(at: start) }
        #expect(pauses.prefix(3).allSatisfy { $0.pause == .zero } && pauses[4].pause > pauses[3].pause)
        #expect(pauses.map(\.pause).max() == .seconds(4))
        #expect(pauses.compactMap(\.report) == [1])
        let later = secrets.note(at: start + .seconds(61))
        #expect(later.pause == .zero && later.report == 10, "a minute forgets them")
    }

    // MARK: Connections

    /// The bytes that each connection sends before it is silent.
    static let beginnings = [
        "", "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
        // The answer comes before the end of the body.
        "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{\"a\": 12}",
        "GET /api/v1/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong-secret\r\n\r\n",
        "GET /jsonrpc HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
    ]

    @Test(arguments: beginnings)
    func silentConnectionsLockNobodyOut(head: String) async throws {
        try await withService { place in
            let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Clients/silent.py"
            var command = ChildProcess.Command(
                "/usr/bin/python3", [script, place.port, "700"] + (head.isEmpty ? [] : [head]),
                environment: ["PATH": "/usr/bin:/bin"], timeout: .seconds(60))
            command.standardInput = .open
            let silent = try ChildProcess.start(command)
            _ = try await silent.line(.standardOutput) { $0 == "open" }
            for _ in 0..<5 {
                #expect(try await place.ask("/healthz", curl: ["--max-time", "5"]).status == 204)
            }
            silent.kill(SIGKILL)
            _ = try? await silent.result()
        }
    }

    @Test func aSilentConnectionDoesNotDelayTheEnd() async throws {
        let place = try await ServedPlace.start()
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Clients/silent.py"
        var command = ChildProcess.Command(
            "/usr/bin/python3", [script, place.port, "3"], environment: ["PATH": "/usr/bin:/bin"],
            timeout: .seconds(60))
        command.standardInput = .open
        let silent = try ChildProcess.start(command)
        _ = try await silent.line(.standardOutput) { $0 == "open" }
        let begun = ContinuousClock.now
        let result = try await place.stop()
        // The connection's own time limit is a minute, and the unit's 15 s.
        #expect(result.exitCode == 0 && ContinuousClock.now - begun < .seconds(15), "\(result)")
        silent.kill(SIGKILL)
        _ = try? await silent.result()
    }

    @Test func theHeadersOfAJobAreBounded() async throws {
        try await withService { place in
            func submit(_ count: Int) async throws -> ServedPlace.Answer {
                let fields = (0..<count).map { "\"X\($0)\": \"a\"" }.joined(separator: ", ")
                let text = job("http://files.example/a", to: "f\(count)", "\"headers\": {\(fields)}")
                return try await place.ask("/api/v1/jobs?paused=1", json: text)
            }
            #expect(try await submit(1000).status == 201)
            let refused = try await submit(20_000)
            #expect(refused.status == 422 && refused.text.contains("more than 1000 header fields"), "\(refused.text)")
        }
    }

    /// A condition that lasts is one line of the log, in words.
    @Test func refusedFollowersAreLoggedOnce() {
        let log = FaultLog(logger: Logger(label: "test"))
        let start = ContinuousClock.now
        let lines = (0..<40).map { log.due("tooManyStreams", at: start + .seconds($0)) }
        #expect(lines.compactMap { $0 } == [0])
        #expect(log.due("internalFault", at: start) == 0, "another condition has a line of its own")
        #expect(log.due("tooManyStreams", at: start + .seconds(61)) == 39)
    }
}

/// HTTP as other programs expect it.
@Suite(.timeLimit(.minutes(2))) struct ExpectedHTTPTests {
    @Test(arguments: [
        ("/api/v1/status", "POST", "GET, HEAD"), ("/api/v1/jobs", "DELETE", "GET, HEAD, POST"),
        ("/api/v1/jobs/0000000000000001", "PUT", "GET, HEAD, PATCH"), ("/rpc", "GET", "POST"),
        ("/healthz", "PATCH", "GET, HEAD"),
    ])
    func anotherMethodIsAnsweredWithThoseOfThePath(path: String, method: String, allowed: String) async throws {
        try await withService { place in
            let answer = try await place.ask(path, method: method)
            #expect(answer.status == 405 && answer.field("Allow") == allowed, "\(answer.head)")
            let options = try await place.ask(path, method: "OPTIONS")
            #expect(options.status == 204 && options.field("Allow") == allowed + ", OPTIONS", "\(options.head)")
        }
    }

    @Test func aClientThatWaitsForPermissionGetsIt() async throws {
        try await withService { place in
            let head =
                "POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer \(place.secret)\r\n"
                + "Content-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: "
            let answer = try await place.exchange(Data((head + "2\r\n\r\n").utf8))
            #expect(answer.hasPrefix("HTTP/1.1 100 Continue\r\n\r\n"), "\(answer)")
            let refused = try await place.exchange(Data((head + "999999999\r\n\r\n").utf8))
            #expect(refused.hasPrefix("HTTP/1.1 413 "), "\(refused)")
        }
    }

    @Test func anEmptyBodyIsNamed() async throws {
        try await withService { place in
            let answer = try await place.ask("/api/v1/jobs", json: "")
            #expect(answer.status == 422 && answer.text.contains("no body"), "\(answer.text)")
        }
    }

    /// The unit starts the service again after 74, and not after 65.
    @Test func aSecretThatIsTooShortIsAFaultOfTheConfiguration() async throws {
        let folder = try TemporaryFolder("short")
        _ = try folder.folder("files")
        let command = ChildProcess.Command(
            try TransferCommand.builtProduct("transfer-server"),
            [
                "--listen", "127.0.0.1:0", "--state", folder.path("state"), "--directory", folder.path("files"),
                "--secret", "$X",
            ],
            environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path("home"), "X": "short"],
            workingFolder: folder.path, timeout: .seconds(30))
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 65 && result.standardError.contains("fewer than 8 characters"), "\(result)")
    }
}
