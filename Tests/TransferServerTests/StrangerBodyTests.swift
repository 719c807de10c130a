import Foundation
import Testing
import TransferTestSupport

@testable import TransferServer

/// The bodies of clients that have shown no valid secret.
@Suite(.timeLimit(.minutes(2))) struct StrangerBodyTests {
    @Test(arguments: [
        (#"{"params": ["token:right one", 1]}"#, "right one"), ("<string>token:abc</string>", "abc"),
        (#"["token:first", "token:second"]"#, "first"), (#"["a token:b"]"#, nil), (#"["token:cut off"#, nil),
        ("token:", nil), ("", nil),
    ])
    func theFirstTokenOfACallIsItsSecret(text: String, secret: String?) {
        #expect(TokenSearch.secret(in: Array(text.utf8)) == secret)
    }

    /// Returns a call of that many bytes.
    private func call(_ token: String, bytes: Int) -> String {
        let filling = String(repeating: "a", count: bytes)
        return #"{"jsonrpc": "2.0", "id": 1, "method": "aria2.getVersion", "params": ["\#(token)", "\#(filling)"]}"#
    }

    @Test func aLongCallShowsItsSecretInItsFirstBytes() async throws {
        try await withService { place in
            let known = try await place.ask(
                "/jsonrpc", json: call("token:\(place.secret)", bytes: 1 << 20), secret: nil)
            #expect(known.status == 200, "\(known.text)")
            let byField = try await place.ask("/jsonrpc", json: call("token:", bytes: 1 << 20))
            #expect(byField.status != 413, "\(byField.text)")
            for token in ["", "token:wrong-secret"] {
                let refused = try await place.ask("/jsonrpc", json: call(token, bytes: 1 << 20), secret: nil)
                #expect(refused.status == 413 && refused.field("Connection") == "close", "\(refused.head)")
                let small = try await place.ask("/jsonrpc", json: call(token, bytes: 100), secret: nil)
                #expect(small.status == 400 && small.text.contains("Unauthorized"), "\(small.text)")
            }
        }
    }

    /// The client waits for permission, so that the answer comes before the body.
    @Test(arguments: ["/api/v1/jobs", "/api/v1/batches", "/healthz"])
    func aStrangerIsRefusedBeforeTheBodyIsRead(path: String) async throws {
        try await withService { place in
            let head =
                "POST \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                + "Expect: 100-continue\r\nContent-Length: 8000000\r\n\r\n"
            let answer = try await place.exchange(Data(head.utf8))
            #expect(answer.hasPrefix("HTTP/1.1 4") && answer.lowercased().contains("connection: close"), "\(answer)")
        }
    }

    @Test func healthIsAnsweredUnderTheBodiesOfManyStrangers() async throws {
        try await withService { place in
            let body = call("token:wrong-secret", bytes: 8_000_000)
            try await withThrowingTaskGroup(of: Void.self) { strangers in
                for _ in 0..<40 {
                    // A refused client may find its connection closed while it sends.
                    strangers.addTask { _ = try? await place.ask("/jsonrpc", json: body, secret: nil) }
                }
                for _ in 0..<5 {
                    #expect(try await place.ask("/healthz", secret: nil, curl: ["--max-time", "5"]).status == 204)
                }
                try await strangers.waitForAll()
            }
        }
    }
}
