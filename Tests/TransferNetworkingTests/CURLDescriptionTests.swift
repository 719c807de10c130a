import Foundation
import FoundationNetworking
import Testing
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("Requests as curl commands", .timeLimit(.minutes(1)))
struct CURLDescriptionTests {
    static let nasty = [
        "plain", "two words", "a\"b", "it's", "$(touch /tmp/pwned)", "`id`", "$HOME", "a\\b", "ends in \\", "!!",
        "a;b|c&d",
        "*", "~", "#x", "a\nb", "'\"'\"'", "tab\there", "é✓", "%s\\n", "'; rm -rf / #",
    ]

    private func command(_ request: URLRequest, secrets: Bool = true, session: HTTPHeaders = [:]) -> CURLCommand {
        CURLCommand(request: request, sessionHeaders: session, includesSecrets: secrets)
    }

    private func request(_ url: String = "http://a.example/x", _ headers: HTTPHeaders = [:]) throws -> URLRequest {
        try URLRequest(url: url, method: .get, headers: headers)
    }

    /// Returns the words into which a real shell splits a command, without `curl`.
    private func words(_ command: CURLCommand) async throws -> [String] {
        try #require(command.text.hasPrefix("$ curl "))
        let script = "printf '%s\\0' " + command.text.dropFirst("$ curl ".count)
        let result = try await ChildProcess.start(.init("/bin/sh", ["-c", script])).result()
        try #require(result.exitCode == 0, "\(result)")
        return result.standardOutput.split(separator: "\0", omittingEmptySubsequences: false).dropLast().map(
            String.init)
    }

    // MARK: Form

    @Test func theFormIsTheDocumentedOne() throws {
        var request = try request("http://a.example/x?q=1", ["X-A": "1"])
        request.httpMethod = "POST"
        request.httpBody = Data("a=b".utf8)
        let text = command(request, session: ["Accept": "*/*", "X-A": "ignored"]).text
        #expect(
            text == """
                $ curl -v \\
                \t-X POST \\
                \t-H "Accept: */*" \\
                \t-H "X-A: 1" \\
                \t-d "a=b" \\
                \t"http://a.example/x?q=1"
                """)
    }

    @Test func thereIsNoCommandBeforeThereIsARequest() {
        let request = makeSession(starts: false).request("http://a.example/x")
        #expect(request.cURLDescription() == "$ curl command could not be created")
    }

    @Test func theCredentialIsAmongTheSecretsOnly() async throws {
        var settings = SessionSettings()
        settings.requestSetup = .eager
        let session = Session(settings)
        let request = session.request("http://a.example/x").authenticate(username: "mary", password: "p$w")
        await request.reaches(.active(.initialized, .prepared))
        let command = request.cURLDescription(includingSecrets: true)
        #expect(command.contains("--anyauth \\\n\t-u 'mary:p$w' \\\n"), "\(command)")
        #expect(!request.cURLDescription().contains("mary"))
        request.cancel()
        withExtendedLifetime(session) {}
    }

    // MARK: Safety

    @Test(arguments: nasty)
    func aShellReadsOneWordForOneBody(text: String) async throws {
        var request = try request()
        request.httpMethod = "POST"
        request.httpBody = Data(text.utf8)
        let words = try await words(command(request))
        #expect(words == ["-v", "-X", "POST", "-d", text, "http://a.example/x"])
    }

    @Test(arguments: nasty.filter { !$0.contains("\n") })
    func aShellReadsOneWordForOneHeader(text: String) async throws {
        let words = try await words(command(try request("http://a.example/x", ["X-A": text])))
        #expect(words == ["-v", "-X", "GET", "-H", "X-A: \(text)", "http://a.example/x"])
    }

    @Test(arguments: ["GET; id", "$(id)", "A B", "'"])
    func aShellReadsOneWordForAMethod(method: String) async throws {
        var request = try request()
        request.httpMethod = method
        let words = try await words(command(request))
        #expect(words == ["-v", "-X", method, "http://a.example/x"])
    }

    @Test(arguments: ["http://a.example/x?a=1&b=2", "http://a.example/'x';id", "http://a.example/$(id)?q=$HOME"])
    func aShellReadsOneWordForAURL(url: String) async throws {
        let words = try await words(command(try request(url)))
        #expect(words.count == 4)
        #expect(words.last == URL(string: url)?.absoluteString)
    }

    /// To curl, `-d @x` is the content of the file `x`.
    @Test func aBodyIsNeverTheNameOfAFile() async throws {
        var request = try request()
        request.httpMethod = "POST"
        request.httpBody = Data("@/etc/passwd".utf8)
        let words = try await words(command(request))
        #expect(words == ["-v", "-X", "POST", "--data-raw", "@/etc/passwd", "http://a.example/x"])
    }

    @Test(arguments: [[0xFF, 0xFE], [0x61, 0x00, 0x62]])
    func aBodyThatIsNoTextIsLeftToStandardInput(bytes: [UInt8]) async throws {
        var request = try request()
        request.httpMethod = "POST"
        request.httpBody = Data(bytes)
        let words = try await words(command(request))
        #expect(words == ["-v", "-X", "POST", "--data-binary", "@-", "http://a.example/x"])
    }

    // MARK: Secrets

    @Test func secretsAreLeftOutUnlessTheyAreAskedFor() throws {
        let request = try request(
            "http://user:secret1@a.example/x?token=secret2&page=3",
            [
                "Authorization": "Bearer secret3", "Cookie": "sid=secret4", "Proxy-Authorization": "secret5",
                "X-Api-Key": "secret6", "X-Plain": "shown",
            ])
        let redacted = command(request, secrets: false, session: ["X-Auth-Token": "secret7"]).text
        #expect(!redacted.contains("secret"))
        #expect(redacted.contains("page=3"))
        #expect(redacted.contains("X-Plain: shown"))
        #expect(redacted.contains("Authorization: ***"))
        let whole = command(request, secrets: true, session: ["X-Auth-Token": "secret7"]).text
        for number in 1...7 { #expect(whole.contains("secret\(number)")) }
    }

    @Test func aRequestRedactsByItself() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let request = makeSession().request(
                server.url("/x?sig=hidden"), headers: [.authorization(bearerToken: "hidden")])
            _ = await request.response()
            #expect(!request.cURLDescription().contains("hidden"))
            #expect(!request.description.contains("hidden"))
            #expect(request.cURLDescription(includingSecrets: true).contains("Bearer hidden"))
        }
    }

    // MARK: Against the real thing

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
    func curlSendsTheSameRequest() async throws {
        try await withTestServer { server async throws in
            let sink = server.acceptUploads("/x")
            let body = #"{"a": "it's $HOME \"q\" \\ `id`"}"#
            var urlRequest = try URLRequest(
                url: server.url("/x?q=a%20b&r=1"), method: .put,
                headers: ["X-A": "a \"b\" 'c' $d", "Empty": "", "Content-Type": "application/json"])
            urlRequest.httpBody = Data(body.utf8)
            let request = makeSession().request(urlRequest)
            _ = await request.response()
            let script = request.cURLDescription(includingSecrets: true).dropFirst(2)
            let result = try await ChildProcess.start(.init("/bin/sh", ["-c", String(script)])).result()
            #expect(result.exitCode == 0, "\(result)")
            let sent = server.requests
            try #require(sent.count == 2)
            #expect(sent[0].method == sent[1].method)
            #expect(sent[0].target == sent[1].target)
            for name in ["X-A", "Empty", "Content-Type", "User-Agent", "Accept-Language", "Accept-Encoding"] {
                #expect(sent[0].headers.all(name) == sent[1].headers.all(name), "\(name)")
            }
            #expect(sink.uploads.map(\.bytes) == [Array(body.utf8), Array(body.utf8)])
        }
    }

    // MARK: When

    @Test func anEarlyHandlerIsCalledOnceThereIsARequest() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let calls = Calls<String>()
            let request = makeSession(starts: false, interceptor: HeaderAdapter("X-A", "adapted")).request(
                server.url("/x")
            ).cURLDescription(on: testQueue) { calls.add($0) }
            #expect(calls.all.isEmpty)
            request.response(queue: testQueue) { _ in }.resume()
            let text = await calls.first()
            #expect(text?.contains("-H \"X-A: adapted\"") == true)
            #expect(text?.contains("\"\(server.url("/x"))\"") == true)
        }
    }

    @Test func aLateHandlerIsCalledAtOnceOnTheSessionsQueue() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let session = makeSession()
            let request = session.request(server.url("/x"))
            _ = await request.response()
            let calls = Calls<String>()
            session.rootQueue.suspend()
            request.cURLDescription { calls.add($0) }
            #expect(calls.all.isEmpty)
            session.rootQueue.resume()
            let text = await calls.first()
            #expect(text == request.cURLDescription())
        }
    }

    /// A closure waits for one command; a retry makes another request.
    @Test func eachClosureIsCalledOnceAlsoWhenTheRequestIsRetried() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            server.script("/x", [.status(503), .status(503)])
            let calls = Calls<String>()
            let retrier = ClosureRetrier { request, _ in request.retryCount < 2 ? .retry : .doNotRetry }
            let request = makeSession(interceptor: retrier).request(server.url("/x")).validate()
                .cURLDescription(on: testQueue) { calls.add($0) }
            _ = await request.response()
            await testQueue.passed()
            #expect(request.retryCount == 2)
            #expect(calls.all.count == 1)
        }
    }
}
