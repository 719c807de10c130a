import Foundation
import Testing
import TransferTestSupport

private let python = "/usr/bin/python3"

/// Bodies over https that end only with the connection (RFC 9112 §9.8).
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: python)), .timeLimit(.minutes(1)))
struct ClosingAlertTests {
    private static let script = """
        import socket, ssl, threading
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain('certificate.pem', 'key.pem')
        listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen(9)
        print(listener.getsockname()[1], flush=True)
        def serve(raw):
            try:
                peer = context.wrap_socket(raw, server_side=True)
                head = b''
                while b'\\r\\n\\r\\n' not in head:
                    more = peer.recv(9999)
                    if not more: return
                    head += more
                told = b'Content-Length: 5000\\r\\n' if b'/told' in head else b''
                peer.sendall(b'HTTP/1.1 200 OK\\r\\n' + told + b'Connection: close\\r\\n\\r\\n')
                if not head.startswith(b'HEAD'): peer.sendall(b'x' * 5000)
                if b'/alert' in head: peer.unwrap()
                else: socket.socket(fileno=peer.detach()).close()
            except OSError: pass
        while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    @Test(
        arguments: [
            ("/alert", [], 0, "closure"), ("/cut", [], 1, nil), ("/told", [], 0, "length"),
            ("/alert", ["--strict"], 1, nil),
            ("/cut", ["--checksum", "sha256:\(sum)"], 0, "checksum"),
        ] as [(String, [String], Int32, String?)])
    func onlyTheAlertOrAnotherProofMakesTheFileComplete(
        _ path: String, _ options: [String], _ exitCode: Int32, _ proof: String?
    ) async throws {
        let place = try Workplace()
        _ = try await ServerCertificate.make(in: place.folder)
        let server = try ChildProcess.start(
            ChildProcess.Command(
                python, ["-c", Self.script], environment: ["PATH": "/usr/bin:/bin"],
                workingFolder: place.folder.path, timeout: .seconds(60)))
        defer { server.kill(SIGKILL) }
        let port = try await server.line(.standardOutput) { !$0.isEmpty }
        let result = try await place.command(
            [
                "get", "https://localhost:\(port)\(path)", "-o", "f", "--json", "--cacert", "certificate.pem",
                "--retry", "1", "--retry-delay", "1ms",
            ] + options
        ).run()
        #expect(result.exitCode == exitCode, "\(result)")
        #expect(place.folder.exists("f") == (exitCode == 0))
        if exitCode == 0 { #expect(try place.content("f").count == 5000) }
        guard let proof else { return }
        let end = try #require(try result.events().named("job.finished").first)
        #expect(end["proofs"]?.array?.compactMap(\.string) == [proof], "\(end)")
    }

    /// The digest of `x`, 5000 times.
    private static let sum = "c59d3c0480cc2d71d8f646e735e92da65450311eec46e81a5db8c7e6e8a92054"
}
