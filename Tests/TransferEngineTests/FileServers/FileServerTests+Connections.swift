import Foundation
import Glibc
import Testing
import TransferCore
import TransferEventLoop
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

extension FileServerTests {
    // MARK: Names

    @Test(arguments: Kind.allCases) func missingFoldersAreMadeOnRequest(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let without = try await bench.send("PUT", peer.url("a/b/x"), body: .bytes([1]), peer.configure).end()
            #expect([403, 409].contains(without.head?.status), "\(without.result)")
            #expect(!peer.exists("a"))
            for name in ["a/b/x", "a/b/y", "a/c d/x"] {
                let url = peer.url(name.replacing(" ", with: "%20"))
                let outcome = try await bench.send("PUT", url, body: .bytes([1, 2])) {
                    peer.configure(&$0)
                    $0.files.createsFolders = true
                }.end()
                #expect(outcome.head?.status == 201, "\(outcome.result)")
                let there = try peer.bytes(name)
                #expect(there == [1, 2])
            }
            // The change of folder does not affect the next request.
            let look = try await bench.send("HEAD", peer.url("a/b/x"), peer.configure).end()
            #expect(look.head?.status == 200)
            let start = try await bench.send(
                "PATCH", peer.url("a/e/x"), body: .bytes([1]), headers: [HeaderField("Upload-Offset", "0")]
            ) {
                peer.configure(&$0)
                $0.files.createsFolders = true
            }.end()
            #expect(start.head?.status == 204 && peer.exists("a/e/x"))
        }
    }

    @Test(arguments: Kind.allCases) func foldersAreMadeAndRemoved(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            func status(_ method: String, _ name: String) async throws -> Int? {
                try await bench.send(method, peer.url(name), peer.configure).end().head?.status
            }
            #expect(try await status("MKCOL", "a/b/") == 201)
            #expect(try await status("MKCOL", "a/b") == 405)
            #expect(peer.exists("a/b"))
            #expect(try await status("DELETE", "a/b/") == 204)
            #expect(!peer.exists("a/b") && peer.exists("a"))
            let again = try await status("DELETE", "a/b/")
            #expect(again == 404)
        }
    }

    @Test(arguments: Kind.allCases) func aFileIsRenamedAndRemoved(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            func move(_ name: String, _ to: String, _ more: [HeaderField] = []) async throws -> Int? {
                let headers = [HeaderField("Destination", peer.url(to))] + more
                return try await bench.send("MOVE", peer.url(name), headers: headers, peer.configure).end().head?.status
            }
            let bytes = try peer.put(500, as: "x y.part")
            try peer.put(3, seed: 2, as: "taken")
            #expect(try await move("x%20y.part", "x%20%22y%22") == 201)
            let isSame = try peer.bytes("x \"y\"") == bytes
            #expect(isSame && !peer.exists("x y.part"))
            let refused = try await move("x%20%22y%22", "taken", [HeaderField("Overwrite", "F")])
            #expect(refused == 409)
            let onto = try await move("x%20%22y%22", "taken")
            #expect(onto == (kind.isSSH ? 409 : 201))
            let there = try peer.bytes("taken").count
            #expect(there == (kind.isSSH ? 3 : 500))
            let missing = try await move("nobody", "new")
            #expect(missing == 404)
            let removed = try await bench.send("DELETE", peer.url("taken"), peer.configure).end().head?.status
            #expect(removed == 204 && !peer.exists("taken"))
            let gone = try await bench.send("DELETE", peer.url("taken"), peer.configure).end().head?.status
            #expect(gone == 404)
        }
    }

    // MARK: Connections

    @Test(arguments: Kind.allCases) func manyFilesUseFewConnections(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let bytes = try peer.put(20_000, as: "x")
            var made = 0
            for index in 0..<10 {
                let outcome =
                    index.isMultiple(of: 2)
                    ? try await bench.download(peer.url("x"), peer.configure).outcome
                    : try await bench.send("PUT", peer.url("y"), body: .bytes(bytes), peer.configure).end()
                #expect(outcome.error == nil)
                made += outcome.metrics.connectionsMade
            }
            // FTP opens one further connection for each file.
            #expect(made <= (kind.isSSH ? 1 : 11))
            let attempts = try (0..<40).map {
                try bench.start(peer.url("x"), to: bench.folder.path("p\($0)"), peer.configure)
            }
            for attempt in attempts {
                let outcome = try await attempt.end()
                #expect(outcome.error == nil && outcome.position == 20_000, "\(outcome.result)")
            }
        }
    }

    @Test(arguments: Kind.allCases) func anotherNetworkGetsConnectionsOfItsOwn(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            try peer.put(10, as: "x")
            for isRenewed in [false, false, true] {
                if isRenewed { bench.engine.renewNetwork() }
                let outcome = try await bench.send("HEAD", peer.url("x"), peer.configure).end()
                #expect(outcome.head?.status == 200)
                if isRenewed { #expect(outcome.metrics.connectionsMade == 1) }
            }
        }
    }

    @Test(arguments: Kind.allCases) func aMissingRequiredLinkBlocksAllTraffic(_ kind: Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let url = kind.isSSH ? "sftp://192.0.2.1/x" : "ftp://192.0.2.1/x"
            let outcome = try await bench.send("HEAD", url) {
                peer.configure(&$0)
                $0.link = "nolink0"
            }.end()
            #expect(outcome.error?.code == .linkUnavailable)
            // Connections within this machine are not bound to a link.
            try peer.put(10, as: "x")
            let here = try await bench.download(peer.url("x")) {
                peer.configure(&$0)
                $0.link = "nolink0"
            }.outcome
            #expect(here.error == nil, "\(here.result)")
        }
    }

    /// Control and data connections go through the tunnel. A connection that is not requested from the proxy reaches no
    /// server.
    @Test(arguments: [Kind.sftp, .ftp, .explicitTLS, .implicitTLS], [TestProxy.Kind.http, .socks5])
    func aProxyIsUsedAsATunnel(_ kind: Kind, _ way: TestProxy.Kind) async throws {
        let peer = try await FileServerPeer(kind)
        try await peer.with { bench in
            let proxy = try TestProxy(way)
            defer { proxy.stop() }
            let bytes = try peer.put(200_000, as: "x")
            let outcome = try await bench.download(peer.url("x")) {
                peer.configure(&$0)
                $0.proxy = "\(way == .http ? "http" : "socks5")://127.0.0.1:\(proxy.port)"
            }.outcome
            #expect(outcome.error == nil, "\(outcome.result)")
            let isSame = Array(try bench.folder.data("x.part")) == bytes
            #expect(isSame && proxy.records.count == (kind.isSSH ? 1 : 2))
            #expect(proxy.records.allSatisfy { $0.action == (way == .http ? "CONNECT" : "SOCKS") })
        }
    }

    @Test func redirectsNeverLeadToFileServers() async throws {
        let server = try await FTPServer.start()
        try await Bench.with { bench in
            for url in [server.url("/x"), "sftp://127.0.0.1/x"] {
                bench.server.handle("GET", "/from") { _ in Response(status: 302, headers: ["Location": url]) }
                let outcome = try await bench.download("/from").outcome
                #expect(outcome.error?.code == .redirectRefused)
            }
            #expect(server.log().isEmpty)
        }
    }
}
