import Foundation
import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestSupport

@testable import TransferJobs

/// ssh's configuration as this program reads it, beside `ssh -G` over the same generated files.
@Suite(.enabled(if: SSHServer.isWanted), .timeLimit(.minutes(2))) struct SSHConfigurationAgreementTests {
    private static let hosts = ["nas", "nbs", "a.example", "b.example", "deep.a.example"]

    /// Generates a file.
    private struct Text {
        var random: SplitMix64
        let include: String?

        mutating func one(of words: [String]) -> String { words[Int.random(in: 0..<words.count, using: &random)] }

        mutating func lines() -> String {
            (0..<1 + Int.random(in: 0..<12, using: &random)).map { _ in
                line() + one(of: ["", "  ", " # note", "\r"]) + "\n"
            }.joined()
        }

        private mutating func line() -> String {
            let patterns = hosts + ["*", "n?s", "*.example", "!nas", "!*.example", "?*", "\"nbs\"", "x*"]
            let (indent, equals) = (one(of: ["", "  ", "\t"]), one(of: [" ", "=", " = ", "\t"]))
            func set(_ keyword: String, _ value: String) -> String { indent + keyword + equals + value }
            switch Int.random(in: 0..<13, using: &random) {
            case 0, 1, 2:
                let names = (0..<1 + Int.random(in: 0..<3, using: &random)).map { _ in one(of: patterns) }
                return set(one(of: ["Host", "host", "HOST"]), names.joined(separator: " "))
            case 3:
                return set("HostName", one(of: ["%h.lan", "10.0.0.1", "Box.Example", "\"q\"", "a%%b", "::1", "%h"]))
            case 4: return set("User", one(of: ["ann", "\"b c\"", #"d\\e"#, "'f'"]))
            case 5: return set("port", one(of: ["22", "2222", "022", "65535"]))
            case 6, 7:
                return set(
                    "IdentityFile",
                    one(of: ["/k/a", "/k/b", "\"/k/c d\"", "/k/e#f", "none", #"/k/g\ h"#, #""/k/\"i\"""#]))
            case 8: return set("UserKnownHostsFile", one(of: ["/h/a", "/h/a /h/b", "none", "\"/h/c d\" /h/e"]))
            case 9:
                return indent
                    + one(of: ["ProxyJump j", "ProxyJump none", "ProxyCommand none", "ProxyCommand nc %h %p"])
            case 10:
                return indent + "Match "
                    + one(of: [
                        "all", "host nas", "host *.lan,10.*", "originalhost nas,nbs", "user ann", "!user ann",
                        "host * user b*", "!host n*", "originalhost * user \"ann\"",
                    ])
            case 11: return include.map { "Include \($0)" } ?? "# comment \"x"
            default: return indent + one(of: ["Compression yes", "ServerAliveInterval=5", "IdentitiesOnly yes"])
            }
        }
    }

    /// The values that decide about a connection.
    private struct Values: Equatable {
        var host: String, user: String, port: String, keys: [String]?, knownHosts: String?
        var isProxied = false
    }

    @Test func agreesWithSSH() async throws {
        let folder = try TemporaryFolder("ssh-config")
        for seed in 0..<150 {
            var random = SplitMix64(state: UInt64(seed))
            let host = Self.hosts[Int.random(in: 0..<Self.hosts.count, using: &random)]
            let user = [nil, "ann", "bob"][Int.random(in: 0..<3, using: &random)]
            let port = [nil, nil, 77][Int.random(in: 0..<3, using: &random)]
            var inner = Text(random: random, include: nil)
            let included = try folder.write(inner.lines(), to: "included")
            var outer = Text(random: inner.random, include: included)
            let text = outer.lines()
            let file = try folder.write(text, to: "config")
            let words = ["-G", "-F", file] + (user.map { ["-l", $0] } ?? []) + (port.map { ["-p", "\($0)"] } ?? [])
            let result = try await ChildProcess.start(.init("/usr/bin/ssh", words + [host])).result()
            try #require(result.exitCode == 0, "seed \(seed): \(result)\n\(text)")
            let theirs = Self.values(ofSSH: result.standardOutput)
            let ours = try Self.values(of: file, host, port, user)
            if theirs.isProxied {
                #expect(ours == nil, "seed \(seed)\n\(text)")
            } else {
                #expect(ours == theirs, "seed \(seed)\n\(text)")
            }
        }
    }

    /// Returns the program's own values; `nil` where it refuses a proxy.
    private static func values(of file: String, _ host: String, _ port: Int?, _ user: String?) throws -> Values? {
        let secrets = SecretSource { $0 == "HOME" ? "/nowhere" : nil }
        let found: SSHHostSettings
        do throws(TransferError) {
            guard let made = try SSHConfiguration(secrets, file: file)?.settings(host: host, port: port, user: user)
            else { return nil }
            found = made
        } catch {
            guard error.message.contains(" is not supported: ") else { throw error }
            return nil
        }
        return Values(
            host: found.hostName ?? host, user: user ?? found.user ?? SSHServer.userName, port: "\(found.port ?? 22)",
            keys: found.identityFiles, knownHosts: found.knownHosts?.joined(separator: " "))
    }

    private static func values(ofSSH text: String) -> Values {
        func all(_ keyword: String) -> [String] {
            text.split(separator: "\n").filter { $0.hasPrefix(keyword + " ") }
                .map { String($0.dropFirst(keyword.count + 1)) }
        }
        let keys = all("identityfile")
        let known = all("userknownhostsfile").first ?? ""
        return Values(
            host: all("hostname").first ?? "", user: all("user").first ?? "", port: all("port").first ?? "",
            keys: keys.contains { $0.hasPrefix("~/.ssh/") } ? nil : keys.filter { $0 != "none" },
            knownHosts: known.contains("/.ssh/known_hosts") ? nil : known == "none" ? "" : known,
            isProxied: !all("proxyjump").isEmpty || all("proxycommand").contains { $0 != "none" })
    }
}
