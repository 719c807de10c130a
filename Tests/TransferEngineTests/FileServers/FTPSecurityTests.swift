import Foundation
import Glibc
import Synchronization
import Testing
import TransferCore
import TransferCrypto
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// TLS of FTP on both of its connections, and the login, against pyftpdlib and vsftpd.
@Suite("FTP over TLS", .enabled(if: FTPServer.isWanted), .timeLimit(.minutes(2)))
struct FTPSecurityTests {
    struct Refused: Error, Equatable { let host: String }

    private func with(
        _ change: (inout FTPServer.Options) -> Void = { _ in },
        _ body: (Bench, FTPServer, TrustAnchors) async throws -> Void
    ) async throws {
        try await Bench.with { bench in
            var options = FTPServer.Options()
            let certificate = try await ServerCertificate.make(in: bench.folder)
            options.certificate = certificate
            change(&options)
            let server = try await FTPServer.start(options)
            try Data("hello".utf8).write(to: URL(fileURLWithPath: server.root + "/x"))
            try await body(bench, server, TrustAnchors(pemFile: certificate.path))
        }
    }

    private func get(
        _ bench: Bench, _ server: FTPServer, _ rules: TLSRules = .system, user: String? = "alice",
        host: String = "127.0.0.1",
        _ change: (inout ExchangeSettings) -> Void = { _ in }
    ) async throws -> ExchangeOutcome {
        try await bench.send("GET", server.url("/x", host: host)) {
            $0.tls = rules
            $0.files.requiresTLS = true
            if let user { $0.credentials = .password(user: user, password: "secret-\(user.prefix(1))") }
            change(&$0)
        }.end()
    }

    @Test(arguments: [true, false]) func nothingIsSentToAnUntrustedServer(_ isImplicit: Bool) async throws {
        try await with {
            $0.isImplicit = isImplicit
        } _: { bench, server, anchors in
            let stranger = try await get(bench, server)
            #expect(stranger.error?.code == .certificateRefused && stranger.error?.isTransient == false)
            #expect(server.commands("USER").isEmpty && server.commands("PASS").isEmpty)
            let known = try await get(bench, server, TLSRules(anchors: anchors))
            #expect(known.answer == Array("hello".utf8), "\(known.result)")
            #expect(server.commands("PROT") == ["PROT P"])
            #expect((server.commands("AUTH") == ["AUTH TLS"]) != isImplicit || server.commands("AUTH").count == 2)
        }
    }

    @Test func aCertificateOfAnotherHostIsRefused() async throws {
        let authority = try await TestAuthority.shared()
        var order = TestAuthority.Order()
        order.name = "other.example"
        order.alternativeNames = ["DNS:other.example"]
        let issued = try await authority.issue(order)
        let anchors = try TrustAnchors(pemFile: authority.anchors)
        try await with {
            $0.certificate = issued.server
        } _: { bench, server, _ in
            let outcome = try await get(bench, server, TLSRules(anchors: anchors))
            #expect(outcome.error?.code == .certificateRefused && server.commands("USER").isEmpty)
        }
    }

    @Test(arguments: [true, false]) func aPinIsAskedFor(_ isRight: Bool) async throws {
        try await with { bench, server, anchors in
            let certificate = try Certificate.certificates(pemOrDER: Array(bench.folder.data("certificate.pem")))
            let pin =
                isRight
                ? try #require(certificate.first).publicKey.pin : "sha256/" + String(repeating: "A", count: 43) + "="
            let outcome = try await get(bench, server, TLSRules(anchors: anchors, pins: [pin]))
            #expect(isRight ? outcome.head?.status == 200 : outcome.error?.code == .certificateRefused)
        }
    }

    @Test func aCheckSeesBothConnectionsAndDecidesAboutBoth() async throws {
        try await with { bench, server, anchors in
            let hosts = Mutex<[String]>([])
            let rules = TLSRules(anchors: anchors) { trust in hosts.withLock { $0.append(trust.host) } }
            let outcome = try await get(bench, server, rules)
            #expect(outcome.head?.status == 200, "\(outcome.result)")
            let seen = hosts.withLock { $0 }
            #expect(!seen.isEmpty && seen.allSatisfy { $0 == "127.0.0.1" })
            let refused = try await get(bench, server, TLSRules(anchors: anchors) { throw Refused(host: $0.host) })
            #expect(
                refused.error?.code == .certificateRefused && refused.refusal as? Refused == Refused(host: "127.0.0.1"))
        }
    }

    /// An attacker on the path could leave the control connection alone and answer the data connection himself.
    @Test func aDataConnectionWithAnotherCertificateIsRefused() async throws {
        let authority = try await TestAuthority.shared()
        let other = try await authority.issue(TestAuthority.Order())
        try await with {
            $0.dataCertificate = other.server
        } _: { bench, server, anchors in
            let outcome = try await get(bench, server, TLSRules(anchors: anchors))
            #expect(outcome.error?.code == .certificateRefused, "\(outcome.result)")
            #expect(outcome.received == 0 && outcome.answer.isEmpty)
            let upload = try await bench.send("PUT", server.url("/y"), body: .bytes(Array("private".utf8))) {
                $0.tls = TLSRules(anchors: anchors)
                $0.files.requiresTLS = true
                $0.credentials = .password(user: "alice", password: "secret-a")
            }.end()
            #expect(upload.error?.code == .certificateRefused && upload.sent == 0)
            let there = (try? Data(contentsOf: URL(fileURLWithPath: server.root + "/y"))) ?? Data()
            #expect(there.isEmpty)
        }
    }

    @Test func requiredTLSNeverFallsBackToClearText() async throws {
        try await with {
            $0.certificate = nil
        } _: { bench, server, _ in
            let outcome = try await get(bench, server)
            #expect(outcome.error?.code == .secureConnectionFailed && outcome.error?.isTransient == false)
            #expect(server.commands("USER").isEmpty)
        }
    }

    @Test func aServerThatWantsTLSSaysSo() async throws {
        try await with {
            $0.requiresTLS = true
        } _: { bench, server, _ in
            let outcome = try await get(bench, server) { $0.files.requiresTLS = false }
            #expect(outcome.error?.code == .loginRefused || outcome.error?.code == .badResponse)
            #expect(outcome.error?.message.contains("SSL") == true, "\(outcome.result)")
        }
    }

    @Test func aRefusedLoginNamesTheUserButNotThePassword() async throws {
        try await with { bench, server, anchors in
            let outcome = try await get(bench, server, TLSRules(anchors: anchors)) {
                $0.credentials = .password(user: "alice", password: "wrong-one")
            }
            let error = try #require(outcome.error)
            #expect(error.code == .loginRefused && !error.isTransient)
            #expect(error.message.contains("the user alice (530") && !error.message.contains("wrong-one"))
        }
    }

    /// Servers answer 530 both to a wrong password and to one connection too many.
    @Test(arguments: [
        ("530 Sorry, the maximum number of clients (2) from your host are already connected.", false),
        ("530 Login incorrect.", true),
    ])
    func anEarlierLoginTurnsARefusalIntoALimit(_ reply: String, _ takesAnEarlierLogin: Bool) async throws {
        try await with {
            $0.replies["PASS"] = ["", reply, "", reply]
        } _: { bench, server, anchors in
            let rules = TLSRules(anchors: anchors)
            // The first login works. The other user has never logged in.
            for (user, code) in [
                ("alice", nil), ("bob", takesAnEarlierLogin ? TransferError.Code.loginRefused : .tooManyConnections),
                ("bob", nil), ("alice", .tooManyConnections),
            ] {
                bench.engine.renewNetwork()
                let outcome = try await get(bench, server, rules, user: user)
                #expect(outcome.error?.code == code, "\(user): \(outcome.result)")
                #expect(outcome.error.map { $0.isTransient } != (code == .loginRefused))
                if code == .tooManyConnections { #expect(outcome.error?.scope == .origin) }
            }
        }
    }

    @Test func twoUsersShareNoConnection() async throws {
        try await with { bench, server, anchors in
            let rules = TLSRules(anchors: anchors)
            for user in ["alice", "bob", "alice", "bob", nil] {
                let outcome = try await get(bench, server, rules, user: user)
                #expect(outcome.head?.status == 200)
            }
            #expect(Set(server.commands("USER")) == ["USER alice", "USER bob", "USER anonymous"])
            #expect(server.commands("USER").count == 3)
            let wrong = try await get(bench, server, rules) { $0.credentials = .password(user: "bob", password: "x") }
            #expect(wrong.error?.code == .loginRefused)
            let stranger = try await get(bench, server)
            #expect(stranger.error?.code == .certificateRefused)
        }
    }

    @Test func namesWithLineBreaksAreNoCommands() async throws {
        try await with { bench, server, anchors in
            let outcome = try await get(bench, server, TLSRules(anchors: anchors)) {
                $0.credentials = .password(user: "alice\r\nDELE x", password: "")
            }
            #expect(outcome.error?.code == .invalidRequest && server.log().isEmpty)
            let path = try await bench.send("DELETE", server.url("/a%0D%0ADELE%20x")).end()
            #expect(path.error?.code == .badURL && server.log().isEmpty)
        }
    }
}
