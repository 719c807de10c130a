import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The `tls` of job files, with a real nginx: the trusted authorities of a job, and its client certificate.
@Suite("TLS of jobs", .timeLimit(.minutes(2)))
struct TLSJobTests {
    private func withServer(
        _ directives: String = "",
        _ body: (NginxServer, TestAuthority, TestAuthority.Issued, Workplace) async throws -> Void
    ) async throws {
        let authority = try await TestAuthority.shared()
        let issued = try await authority.issue()
        var options = NginxServer.Options()
        options.certificate = issued.server
        options.server = directives
        options.allowsWriting = true
        let server = try await NginxServer.start(options: options)
        try Data("hello".utf8).write(to: URL(fileURLWithPath: server.root + "/a"))
        try await body(server, authority, issued, Workplace())
    }

    private func run(
        _ server: NginxServer, _ tls: String, _ place: Workplace, file: String, passphrase: String? = nil
    ) async throws -> ProcessResult {
        try place.jobs([download(server.url("/a"), to: file, #""tls": {\#(tls)}"#)], name: file)
        var command = place.command(["run", "jobs.json", "--json", "-v"])
        command.environment["PASSPHRASE"] = passphrase
        return try await command.run()
    }

    private func pin(_ certificate: String) async throws -> String {
        let words = [
            "-c",
            "openssl x509 -in \"$0\" -pubkey -noout | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary "
                + "| openssl base64 -A", certificate,
        ]
        let result = try await ChildProcess.start(ChildProcess.Command("/bin/sh", words)).result()
        return "sha256/" + result.standardOutput.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    @Test func anAuthorityOfTheJobsOwnIsTrustedAndNoOther() async throws {
        try await withServer { server, authority, _, place in
            let good = try await run(server, #""ca": "\#(authority.anchors)""#, place, file: "good")
            #expect(good.exitCode == 0, "\(good)")
            #expect(try place.folder.text("good") == "hello")
            let strange = try await run(server, "", place, file: "strange")
            let event = try #require(try strange.events().named("job.failed").first)
            #expect(strange.exitCode == 1 && event["code"]?.string == "certificateRefused")
            #expect(event["attempts"]?.int == 1)
            await server.stopGracefully()
            let log = try server.accessLog()
            #expect(log.count == 1)
        }
    }

    @Test func onlyAPinnedKeyIsTrusted() async throws {
        try await withServer { server, authority, issued, place in
            let (leaf, intermediate) = (
                try await pin(issued.certificate), try await pin(authority.intermediate.certificate)
            )
            let other = try await pin(try await authority.issue().certificate)
            let ca = #""ca": "\#(authority.anchors)""#
            let byLeaf = try await run(server, #"\#(ca), "pins": ["\#(other)", "\#(leaf)"]"#, place, file: "leaf")
            #expect(byLeaf.exitCode == 0, "\(byLeaf)")
            let above = try await run(server, #"\#(ca), "pins": ["\#(intermediate)"]"#, place, file: "above")
            #expect(above.exitCode == 0, "\(above)")
            let wrong = try await run(server, #"\#(ca), "pins": ["\#(other)"]"#, place, file: "wrong")
            let event = try #require(try wrong.events().named("job.failed").first)
            #expect(event["code"]?.string == "certificateRefused")
            #expect(event["message"]?.string?.contains("pinned") == true, "\(event)")
        }
    }

    @Test func aClientCertificateIsShown() async throws {
        let authority = try await TestAuthority.shared()
        let client = try await authority.issue {
            $0.usage = "clientAuth"
            $0.alternativeNames = []
        }
        let directives = "ssl_client_certificate \"\(authority.anchors)\"; ssl_verify_client on; ssl_verify_depth 3;"
        try await withServer(directives) { server, authority, _, place in
            let ca = #""ca": "\#(authority.anchors)""#
            let nobody = try await run(server, ca, place, file: "nobody")
            #expect(nobody.exitCode == 1)
            let shown = try await run(
                server, #"\#(ca), "cert": "\#(client.chain)", "key": "\#(client.key)""#, place, file: "shown")
            #expect(shown.exitCode == 0, "\(shown)")
            #expect(try place.folder.text("shown") == "hello")
        }
    }

    /// The key is in a separate PEM file, or in a PKCS#12 file: one passphrase opens either.
    @Test(arguments: [false, true])
    func aPassphraseOpensTheKey(isPKCS12: Bool) async throws {
        let authority = try await TestAuthority.shared()
        let client = try await authority.issue {
            $0.usage = "clientAuth"
            $0.alternativeNames = []
        }
        let file =
            isPKCS12
            ? try await authority.pkcs12(client, passphrase: "keyhunter")
            : try await authority.encrypted(key: client.key, passphrase: "keyhunter")
        let files = isPKCS12 ? #""cert": "\#(file)""# : #""cert": "\#(client.chain)", "key": "\#(file)""#
        let directives = "ssl_client_certificate \"\(authority.anchors)\"; ssl_verify_client on; ssl_verify_depth 3;"
        try await withServer(directives) { server, authority, _, place in
            let ca = #""ca": "\#(authority.anchors)""#
            let tls = #"\#(ca), \#(files), "keyPassphrase": {"env": "PASSPHRASE"}"#
            let shown = try await run(server, tls, place, file: "shown", passphrase: "keyhunter")
            #expect(shown.exitCode == 0, "\(shown)")
            #expect(try place.folder.text("shown") == "hello")
            for (passphrase, tls, message) in [
                ("wronghunter", tls, "the passphrase of \(file) is wrong"),
                (nil, tls, "the environment variable PASSPHRASE is not set"),
                (nil, "\(ca), \(files)", "\(file) is encrypted, and there is no passphrase"),
            ] {
                let refused = try await run(server, tls, place, file: "refused", passphrase: passphrase)
                let event = try #require(try refused.events().named("job.failed").first, "\(refused)")
                #expect(event["message"]?.string == message)
                #expect(!"\(refused)".contains("hunter"))
            }
            #expect(!"\(shown)".contains("hunter"))
            #expect(try place.secretIsNowhere("hunter"))
            await server.stopGracefully()
            let log = try server.accessLog()
            #expect(log.count == 1)
        }
    }

    @Test func filesThatDoNotFitAreNamed() async throws {
        try await withServer { server, authority, issued, place in
            let missing = try await run(server, #""ca": "missing.pem""#, place, file: "missing")
            let first = try #require(try missing.events().named("job.failed").first)
            #expect(first["message"]?.string?.contains("missing.pem") == true, "\(first)")
            let tls = #""cert": "\#(issued.certificate)", "key": "\#(authority.intermediate.key)""#
            let other = try await run(server, tls, place, file: "other")
            let second = try #require(try other.events().named("job.failed").first)
            #expect(second["message"]?.string?.contains(authority.intermediate.key) == true, "\(second)")
            let log = try server.accessLog()
            #expect(log.isEmpty)
        }
    }
}
