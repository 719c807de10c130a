import Foundation
import Testing
import TransferKit
import TransferTestServer
import TransferTestSupport

/// The code of the documentation's articles, as it stands there.
@Suite("The articles of the documentation", .timeLimit(.minutes(1)))
struct ArticleTests {
    struct Profile: Codable, Sendable {
        var name: String
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("articles") }

    /// The request of the README: pinned keys, a retry policy, a password that is asked for.
    @Test func theReadmesRequest() async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        var options = NginxServer.Options()
        options.certificate = issued.server
        let passwords = try folder.write("ada:{PLAIN}secret\n", to: "passwords")
        options.location = "auth_basic \"users\"; auth_basic_user_file \"\(passwords)\";"
        let server = try await NginxServer.start(options: options)
        try Data("{\"name\": \"Ada\"}".utf8).write(to: URL(fileURLWithPath: server.root + "/7"))
        let pinned = try Certificate.certificates(atPath: issued.certificate).map(\.publicKey)
        var settings = SessionSettings()
        settings.authorities = authority.anchors
        settings.interceptor = .retryPolicy
        settings.serverTrustManager = ServerTrustManager(evaluators: [
            "127.0.0.1": PublicKeysTrustEvaluator(keys: pinned)
        ])
        let user = try await Session(settings).request(server.url("/7"))
            .authenticate(username: "ada", password: "secret")
            .validate()
            .serializingDecodable(Profile.self).value
        #expect(user.name == "Ada")
        let log = try server.accessLog()
        #expect(log.first?.status == 401)
    }

    @Test func gettingStarted() async throws {
        let file = URL(fileURLWithPath: folder.path("deep/x.bin"))
        try await withTestServer { server async throws in
            server.serve("/p", ServedFile(.text("{\"name\": \"Ada\"}"), headers: ["Content-Type": "application/json"]))
            server.serve("/f", .random(seed: 1, count: 100_000))
            server.handle("POST", "/p") { _ in Response(body: .text("stored")) }
            let sink = server.acceptUploads("/up")
            let url = server.url("/p")
            let queue = DispatchQueue(label: "articles")
            let profile = try await AF.request(url).validate().serializingDecodable(Profile.self).value
            #expect(profile.name == "Ada")
            let name = await withCheckedContinuation { continuation in
                AF.request(url).validate().responseDecodable(of: Profile.self, queue: queue) { response in
                    continuation.resume(returning: response.value?.name)
                    _ = response.metrics?.taskInterval.duration
                }
            }
            #expect(name == "Ada")
            let answer = try await AF.request(
                url, method: .post, parameters: Profile(name: "Ada"), encoder: JSONParameterEncoder.default
            ).serializingString().value
            #expect(answer == "stored")

            let destination: DownloadRequest.Destination = { _, _ in
                (file, [.createIntermediateDirectories, .removePreviousFile])
            }
            let download = AF.download(server.url("/f"), to: destination)
                .downloadProgress(queue: queue) { progress in _ = progress.fractionCompleted }
            let place = try await download.serializingDownloadedFileURL().value
            #expect(place == file)
            let sent = await AF.upload(file, to: server.url("/up"), method: .put)
                .serializingData(emptyResponseCodes: [201, 204]).response
            #expect(sent.response?.statusCode == 201 && sink.uploads.first?.count == 100_000)

            var text = ""
            for await stream in AF.streamRequest(url).streamTask().streamingStrings() {
                if case .stream(.success(let piece)) = stream.event { text += piece }
            }
            #expect(text.contains("Ada"))
            let session = Session(interceptor: .retryPolicy)
            server.script("/r", [.status(503)])
            server.serve("/r", .text("at last"))
            let retried = try await session.request(server.url("/r")).validate().serializingString().value
            #expect(retried == "at last")
        }
    }

    @Test func resumingAcrossProcesses() async throws {
        let note = URL(fileURLWithPath: folder.path("note"))
        let target = URL(fileURLWithPath: folder.path("x.bin"))
        try await withTestServer { server async throws in
            server.serve("/f", ServedFile(.random(seed: 1, count: 600_000), etag: "\"1\""))
            server.script("/f", [.cut(after: 300_000)])
            let url = server.url("/f")
            let session = Session()
            let download = session.download(url)
            _ = await download.serializingDownloadedFileURL().response
            if let data = download.resumeData { try data.write(to: note) }
            let destination = DownloadRequest.destination(target)
            let rest = session.download(resumingWith: try Data(contentsOf: note), to: destination)
            let file = try await rest.serializingDownloadedFileURL().value
            let count = try Data(contentsOf: file).count
            #expect(count == 600_000)
            #expect(server.requests.last?.headers["Range"] == "bytes=300000-")

            let queue = try await TransferQueue.open(.init(state: folder.path("state")))
            let again = DownloadRequest.destination(URL(fileURLWithPath: folder.path("y.bin")))
            let job = try await queue.submit(session.download(url, to: again), batch: "nightly")
            _ = job
        }
    }
}
