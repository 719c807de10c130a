import Foundation
import Synchronization
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs
@testable import TransferQueue

/// Jobs whose S3 credentials a source on this machine gives: a queue asks it, signs by its keys, and asks again when they
/// end. They are part of `make check`.
@Suite(.timeLimit(.minutes(1)), .enabled(if: TransferCommand.runsHeavyTests)) struct S3RoleRunTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder("roles")
        try folder.write("content", to: "f")
    }

    /// A secret that may appear in nothing that the queue writes or reports.
    private static let secret = "hush-hush-secret"

    private static func keys(_ number: Int, process: Bool = false) -> String {
        let token = process ? "SessionToken" : "Token"
        return #"{"Version": 1, "AccessKeyId": "AK\#(number)", "SecretAccessKey": "\#(secret)", "#
            + #""\#(token)": "\#(secret)-token", "Expiration": "2099-01-01T00:00:00Z"}"#
    }

    private func access(_ server: TestServer) -> JobSettings {
        var settings = Sample.quick
        var access = JobSettings.S3Access()
        access.endpoint = server.url("")
        access.region = "us-east-1"
        access.style = .path
        settings.s3 = access
        return settings
    }

    private func download(_ server: TestServer, _ number: Int = 0) -> JobSpec {
        Sample.download("s3://bucket/f", to: folder.path("out\(number)"), id: "\(number)", settings: access(server))
    }

    private struct Run {
        var ends: [String: [String]]
        /// The text of all events.
        var events: String
    }

    /// Runs jobs with an environment. Nothing that is reported or stored has a secret.
    private func run(_ jobs: [JobSpec], _ environment: [String: String]) async throws -> Run {
        let variables = ["HOME": folder.path("home")].merging(environment) { $1 }
        return try await withQueue(
            folder, configure: { $0.secrets = SecretSource(environment: { variables[$0] }) }
        ) { queue in
            let log = EventLog(queue)
            try await queue.complete(jobs)
            let events = "\(log.events)"
            #expect(!events.contains(Self.secret))
            for file in try folder.files(below: "state") where !file.hasSuffix(".sock") {
                let bytes = try folder.data("state/" + file)
                #expect(bytes.range(of: Data(Self.secret.utf8)) == nil, "\(file) has a secret")
            }
            return Run(ends: log.ends, events: events)
        }
    }

    /// Answers as the metadata service of a machine; the keys have another number at each request.
    private func serveMetadata(_ server: TestServer) {
        let count = Mutex(0)
        let path = "/latest/meta-data/iam/security-credentials/"
        server.handle("PUT", "/latest/api/token") { _ in Response(body: .text("TOKEN")) }
        server.handle("GET", path) { request in
            request.headers["X-aws-ec2-metadata-token"] == "TOKEN"
                ? Response(body: .text("role")) : Response(status: 401)
        }
        server.handle("GET", path + "role") { request in
            guard request.headers["X-aws-ec2-metadata-token"] == "TOKEN" else { return Response(status: 401) }
            let number = count.withLock { count in
                count += 1
                return count
            }
            return Response(body: .text(Self.keys(number)))
        }
    }

    private func signers(_ server: TestServer, _ path: String = "/bucket/f") -> [String] {
        server.requests(to: path).compactMap { request in
            let field = request.headers["Authorization"] ?? ""
            return field.firstMatch(of: /Credential=([^\/]*)/).map { String($0.1) }
        }
    }

    @Test func aMachinesRoleIsAskedOnceForManyJobs() async throws {
        try await withTestServer { server in
            serveMetadata(server)
            server.serve("/bucket/f", .text("content"))
            let result = try await run(
                (0..<20).map { download(server, $0) }, ["AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url("")])
            #expect(result.ends.count == 20 && result.ends.values.allSatisfy { $0 == ["done"] }, "\(result)")
            #expect(Set(signers(server)) == ["AK1"])
            #expect(server.requests(to: "/latest/api/token").count == 1)
            let token = server.requests(to: "/bucket/f").first?.headers["x-amz-security-token"]
            #expect(token == Self.secret + "-token")
        }
    }

    @Test func expiredCredentialsAreReplacedAndTheJobGoesOn() async throws {
        try await withTestServer { server in
            serveMetadata(server)
            server.handle("GET", "/bucket/f") { request in
                guard request.headers["Authorization"]?.contains("Credential=AK1/") == true else {
                    return Response(body: .text("content"))
                }
                let body = "<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>"
                return Response(status: 400, body: .text(body))
            }
            let result = try await run([download(server)], ["AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url("")])
            #expect(result.ends == ["0": ["done"]], "\(result)")
            #expect(signers(server) == ["AK1", "AK2"])
        }
    }

    @Test func aMachineWithoutARoleFailsAtOnceWithThePlacesThatWereSearched() async throws {
        try await withTestServer { server in
            let result = try await run([download(server)], ["AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url("")])
            #expect(result.ends == ["0": ["failed secretMissing"]], "\(result)")
            let words = result.events
            #expect(words.contains("looked at AWS_ACCESS_KEY_ID in the environment, "), "\(words)")
            #expect(words.contains("the instance's role at http://127.0.0.1:\(server.port)"), "\(words)")
            #expect(words.contains(" answered 40"), "\(words)")
            #expect(server.requests(to: "/latest/api/token").count == 1)
            #expect(server.requests(to: "/bucket/f").isEmpty)
        }
    }

    @Test func aMachineWithoutARoleIsAskedOnceForManyJobs() async throws {
        try await withTestServer { server in
            let result = try await run(
                (0..<40).map { download(server, $0) }, ["AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url("")])
            #expect(result.ends.count == 40, "\(result)")
            #expect(result.ends.values.allSatisfy { $0 == ["failed secretMissing"] }, "\(result)")
            #expect(server.requests(to: "/latest/api/token").count == 1)
        }
    }

    @Test func aContainersRoleSignsUploadsToo() async throws {
        try await withTestServer { server in
            try folder.write("Bearer \(Self.secret)\n", to: "token")
            server.handle("GET", "/role") { request in
                request.headers["Authorization"] == "Bearer \(Self.secret)"
                    ? Response(body: .text(Self.keys(7))) : Response(status: 403)
            }
            server.acceptUploads(
                "/bucket/g", answer: Response(headers: ["ETag": #""9a0364b9e99bb480dd25e1f0284c8555""#]))
            var job = Sample.upload(folder.path("f"), to: "s3://bucket/g", id: "0", protocol: .s3)
            job.settings = access(server)
            let result = try await run(
                [job],
                [
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url("/role"),
                    "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": folder.path("token"),
                ])
            #expect(result.ends == ["0": ["done"]], "\(result)")
            #expect(Set(signers(server, "/bucket/g")) == ["AK7"])
        }
    }

    @Test func aWebIdentityIsExchangedForCredentials() async throws {
        try await withTestServer { server in
            try folder.write("\(Self.secret).jwt\n", to: "jwt")
            server.handle("POST", "/") { request in
                guard String(decoding: request.body, as: UTF8.self).contains("WebIdentityToken=\(Self.secret).jwt")
                else {
                    return Response(status: 400)
                }
                let body =
                    "<A><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>AK8</AccessKeyId><SecretAccessKey>"
                    + "\(Self.secret)</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z"
                    + "</Expiration></Credentials></AssumeRoleWithWebIdentityResult></A>"
                return Response(body: .text(body))
            }
            server.serve("/bucket/f", .text("content"))
            let result = try await run(
                [download(server)],
                [
                    "AWS_WEB_IDENTITY_TOKEN_FILE": folder.path("jwt"), "AWS_ROLE_ARN": "arn:aws:iam::1:role/r",
                    "AWS_ENDPOINT_URL_STS": server.url(""),
                ])
            #expect(result.ends == ["0": ["done"]], "\(result)")
            #expect(Set(signers(server)) == ["AK8"])
        }
    }

    /// The profile's role is assumed with the keys that the program of another profile gives.
    @Test func aRoleIsAssumedWithTheCredentialsOfAnotherProfile() async throws {
        try await withTestServer { server in
            try folder.write(Self.keys(3, process: true), to: "keys")
            let keys = folder.path("keys")
            try folder.write(
                """
                [profile work]
                role_arn = arn:aws:iam::1:role/r
                source_profile = base
                [profile base]
                credential_process = /bin/cat '\(keys)'
                [profile one]
                role_arn = arn:a
                source_profile = two
                [profile two]
                role_arn = arn:b
                source_profile = one
                """, to: "home/.aws/config")
            server.handle("POST", "/") { request in
                guard request.headers["Authorization"]?.contains("Credential=AK3/") == true else {
                    return Response(status: 403)
                }
                let body =
                    "<A><AssumeRoleResult><Credentials><AccessKeyId>AK4</AccessKeyId><SecretAccessKey>\(Self.secret)"
                    + "</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>"
                    + "</Credentials></AssumeRoleResult></A>"
                return Response(body: .text(body))
            }
            server.serve("/bucket/f", .text("content"))
            let service = ["AWS_ENDPOINT_URL_STS": server.url("")]
            let result = try await run([download(server)], service.merging(["AWS_PROFILE": "work"]) { $1 })
            #expect(result.ends == ["0": ["done"]], "\(result)")
            #expect(Set(signers(server)) == ["AK4"])
            var other = download(server, 1)
            other.settings.s3?.profile = "one"
            let circle = try await run([other], service)
            #expect(circle.ends == ["1": ["failed secretMissing"]], "\(circle)")
            #expect(circle.events.contains("whose profiles name each other"), "\(circle)")
        }
    }

    /// STS refuses the credentials that a container gave first. The container is asked again, and the job does not fail.
    @Test func aRefusedBaseOfARoleIsReplaced() async throws {
        try await withTestServer { server in
            try folder.write(
                "[default]\nrole_arn = arn:r\ncredential_source = EcsContainer\n", to: "home/.aws/config")
            let count = Mutex(0)
            server.handle("GET", "/role") { _ in
                let number = count.withLock { count in
                    count += 1
                    return count
                }
                return Response(body: .text(Self.keys(number)))
            }
            server.handle("POST", "/") { request in
                guard request.headers["Authorization"]?.contains("Credential=AK2/") == true else {
                    let body = "<ErrorResponse><Error><Code>ExpiredToken</Code></Error></ErrorResponse>"
                    return Response(status: 403, body: .text(body))
                }
                let body =
                    "<A><AssumeRoleResult><Credentials><AccessKeyId>AK9</AccessKeyId><SecretAccessKey>\(Self.secret)"
                    + "</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration>"
                    + "</Credentials></AssumeRoleResult></A>"
                return Response(body: .text(body))
            }
            server.serve("/bucket/f", .text("content"))
            let result = try await run(
                [download(server)],
                [
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url("/role"),
                    "AWS_ENDPOINT_URL_STS": server.url(""),
                ])
            #expect(result.ends == ["0": ["done"]], "\(result)")
            #expect(signers(server) == ["AK9"] && signers(server, "/") == ["AK1", "AK2"])
        }
    }

    /// The program's standard error may have secrets, and no message has them.
    @Test(arguments: [true, false]) func aProgramOfTheProfileGivesCredentials(_ succeeds: Bool) async throws {
        try await withTestServer { server in
            try folder.write(
                "echo \(Self.secret) >&2\ncat '\(folder.path("keys"))'\nexit \(succeeds ? 0 : 3)\n", to: "program")
            try folder.write(Self.keys(9, process: true), to: "keys")
            let program = folder.path("program")
            try folder.write("[default]\ncredential_process = /bin/sh '\(program)'\n", to: "home/.aws/config")
            server.serve("/bucket/f", .text("content"))
            let result = try await run([download(server)], [:])
            if succeeds {
                #expect(result.ends == ["0": ["done"]], "\(result)")
                #expect(Set(signers(server)) == ["AK9"])
            } else {
                #expect(result.ends == ["0": ["failed secretMissing"]], "\(result)")
                #expect(result.events.contains("credential_process of the profile default failed"), "\(result)")
                #expect(result.events.contains("ended with status 3") && server.requests.isEmpty, "\(result)")
            }
        }
    }
}
