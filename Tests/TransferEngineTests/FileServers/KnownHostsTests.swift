import Foundation
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferEngine

/// Files of known hosts are read as ssh reads them (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT).
@Suite struct KnownHostsTests {
    /// Returns a key in wire format, which is identified by its last byte.
    private static func key(_ number: UInt8, type: String = "ssh-ed25519") -> [UInt8] {
        [0, 0, 0, UInt8(type.utf8.count)] + Array(type.utf8) + [0, 0, 0, 32] + [UInt8](repeating: number, count: 32)
    }

    private static func line(_ names: String, _ number: UInt8 = 1, type: String = "ssh-ed25519", as name: String? = nil)
        -> String
    {
        "\(names) \(name ?? type) \(Base64.encode(key(number, type: type)))"
    }

    private func verdict(
        _ text: String, host: String = "a.lan", port: Int = 22, number: UInt8 = 1, type: String = "ssh-ed25519"
    ) -> ServerKeys.Verdict {
        var known = KnownHosts()
        known.add(Array(text.utf8))
        return known.keys(host: host, port: port).verdict(Self.key(number, type: type))
    }

    @Test(
        arguments: [
            ("a.lan", true), ("*.lan", true), ("?.lan", true), ("??.lan", false), ("A.LAN", true), ("*", true),
            ("b.lan,a.lan", true), ("!a.lan,*.lan", false), ("*.lan,!a.lan", false), ("!b.lan,*.lan", true),
            ("!b.lan", false), ("[a.lan]:22", false), ("[a.lan]:*", false), ("a.la", false), ("*.lan.example", false),
            ("*a*l*n", true), ("#a.lan", false), ("|1|bad|bad", false), ("a.lan extra", false),
        ] as [(String, Bool)])
    func namesArePatterns(_ names: String, _ isKnown: Bool) {
        #expect(verdict(Self.line(names)) == (isKnown ? .known : .unknown))
    }

    @Test(
        arguments: [
            ("[a.lan]:2222", true), ("[*.lan]:*", true), ("[a.lan]:2223", false), ("![a.lan]:2222,[*]:*", false),
            // ssh looks for the name without a port if it has no key for the name with the port.
            ("a.lan", true), ("*.lan", true),
        ] as [(String, Bool)])
    func anotherPortIsAPartOfTheName(_ names: String, _ isKnown: Bool) {
        #expect(verdict(Self.line(names), port: 2222) == (isKnown ? .known : .unknown))
    }

    @Test(
        arguments: [
            ("@revoked *", ServerKeys.Verdict.revoked), ("@revoked a.lan", .revoked), ("@revoked b.lan", .known),
            ("@cert-authority *", .known), ("@unknown *", .known), ("@revoked @cert-authority *", .known),
        ])
    func aMarkerCountsBeforeAndBehindTheKey(_ marked: String, _ expected: ServerKeys.Verdict) {
        let (plain, other) = (Self.line("a.lan"), Self.line(marked))
        #expect(verdict("\(plain)\n\(other)") == expected)
        #expect(verdict("\(other)\r\n\(plain)\r\n") == expected)
        var files = KnownHosts()
        files.add(Array(plain.utf8))
        files.add(Array(other.utf8))
        #expect(files.keys(host: "a.lan", port: 22).verdict(Self.key(1)) == expected)
    }

    @Test func anUnknownKeyHasAnExplainingError() {
        #expect(verdict(Self.line("a.lan", 2)) == .changed)
        #expect(verdict(Self.line("a.lan", 2) + "\n" + Self.line("a.lan")) == .known)
        #expect(verdict(Self.line("a.lan", type: "ssh-rsa")) == .otherTypes(["ssh-rsa"]))
        #expect(verdict(Self.line("@cert-authority a.lan")) == .authorityOnly)
        #expect(verdict(Self.line("@cert-authority a.lan", 2)) == .authorityOnly)
        #expect(verdict(Self.line("a.lan", as: "ssh-rsa")) == .unknown)
        #expect(verdict(Self.line("a.lan", as: "ED25519")) == .unknown)
        #expect(verdict("a.lan ssh-ed25519 AAAA\n\(Self.line("a.lan"))\na.lan") == .known)
        #expect(verdict("") == .unknown)
    }

    /// libcurl asks a server for a key of the type that it is given.
    @Test func aRevokedKeyIsNoTypeToAskFor() {
        var known = KnownHosts()
        known.add(
            Array(
                [Self.line("a.lan"), Self.line("@revoked *"), Self.line("*.lan", 3, type: "ssh-rsa")]
                    .joined(separator: "\n").utf8))
        #expect(known.keys(host: "a.lan", port: 22).line?.hasPrefix("a.lan ssh-rsa ") == true)
        #expect(known.keys(host: "b.example", port: 22).line == nil)
    }

    @Test func aPatternOfStarsTakesNoTime() {
        let pattern = HostPattern(Array(String(repeating: "*a", count: 500).utf8)[...])
        #expect(!pattern.matches(Array(String(repeating: "a", count: 499).utf8)))
        #expect(pattern.matches(Array(String(repeating: "a", count: 500).utf8)))
    }
}

/// The same files as input of ssh(1) and of the engine.
@Suite("Known hosts as ssh has them", .enabled(if: SSHServer.isWanted), .timeLimit(.minutes(3)))
struct KnownHostsComparisonTests {
    /// Returns files that are put together from lines of each kind, always in the same way.
    static func files(port: UInt16, key: String, other: String, hashed: [String]) -> [String] {
        let names = [
            "[127.0.0.1]:\(port)", "127.0.0.1", "[127.0.0.*]:*", "*", "[*]:\(port)", "127.0.0.?", "[127.0.0.1]:1",
            "![127.0.0.1]:\(port),*", "*,!127.0.0.1", "[127.0.0.1]:\(port),127.0.0.1", "other.example",
            "localhost,[localhost]:\(port)", "[127.0.0.??]:*", "!*,[127.0.0.1]:\(port)",
        ]
        let markers = ["", "@revoked ", "@cert-authority ", "@revokd ", "@revoked @revoked ", "\t ", "# "]
        let ends = ["", " comment here", "\r", " AAAA", "\t#"]
        var lines: [String] = hashed
        for (index, name) in names.enumerated() {
            for (place, marker) in markers.enumerated() {
                let end = ends[(index + place) % ends.count]
                lines.append("\(marker)\(name) \((index + 2 * place) % 5 == 4 ? other : key)\(end)")
            }
        }
        lines += [
            "[127.0.0.1]:\(port) \(key.replacing("ssh-ed25519", with: "ssh-rsa"))", "[127.0.0.1]:\(port)",
            "[127.0.0.1]:\(port) ED25519 \(key.split(separator: " ")[1])", "[127.0.0.1]:\(port) ssh-ed25519 AAA=",
            "|1|x|y \(key)", "", "   ",
        ]
        var state: UInt64 = 0x2545_F491_4F6C_DD1D
        func next(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }
        return lines
            + (0..<60).map { _ in (0..<(2 + next(3))).map { _ in lines[next(lines.count)] }.joined(separator: "\n") }
    }

    @Test func bothAcceptTheSameServers() async throws {
        let server = try await SSHServer.start()
        try await Bench.with { bench in
            try bench.folder.write("hello", to: "x")
            let key = try String(contentsOfFile: server.hostKey + ".pub", encoding: .utf8).split(separator: " ")[..<2]
                .joined(separator: " ")
            let stranger = try await SSHServer.makeKey(bench.folder.path("other"))
            let other = try String(contentsOfFile: stranger + ".pub", encoding: .utf8).split(separator: " ")[..<2]
                .joined(separator: " ")
            var hashed: [String] = []
            for name in ["[127.0.0.1]:\(server.port)", "127.0.0.1", "[127.0.0.1]:1"] {
                let path = try bench.folder.write("\(name) \(key)\n", to: "hashed")
                _ = try await ChildProcess.start(ChildProcess.Command("/usr/bin/ssh-keygen", ["-H", "-f", path]))
                    .result()
                hashed.append(try bench.folder.text("hashed").trimmingCharacters(in: .newlines))
            }
            hashed.append("@revoked " + hashed[0])
            var accepted = 0
            let files = Self.files(port: server.port, key: key, other: other, hashed: hashed)
            for (number, file) in files.enumerated() {
                // A different path each time, because a kept connection is not judged a second time.
                let path = try bench.folder.write(file + "\n", to: "known-\(number)")
                let ssh = try await ChildProcess.start(
                    ChildProcess.Command(
                        "/usr/bin/ssh",
                        [
                            "-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes", "-o",
                            "UserKnownHostsFile=\(path)", "-o", "GlobalKnownHostsFile=none", "-o", "UpdateHostKeys=no",
                            "-i",
                            server.userKey, "-p", "\(server.port)", "127.0.0.1", "-s", "sftp",
                        ])
                ).result()
                let isAccepted = !ssh.standardError.contains("Host key verification failed")
                let outcome = try await bench.send("HEAD", server.url(bench.folder.path("x"))) {
                    $0.files.knownHosts = path
                    $0.files.privateKey = FileServerSettings.PrivateKey(path: server.userKey)
                    $0.credentials = .password(user: SSHServer.userName, password: "")
                }.end()
                #expect(
                    (outcome.error?.code != .hostKeyRefused) == isAccepted,
                    "\(file)\n\(outcome.result)\n\(ssh.standardError)")
                if isAccepted { accepted += 1 }
            }
            #expect(accepted > 20, "\(accepted)")
        }
    }
}
