import Foundation
import Glibc
import Testing
import TransferCore
import TransferCrypto
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

/// A real file server, and the settings with which exchanges reach it.
struct FileServerPeer: Sendable {
    enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
        /// OpenSSH.
        case sftp
        /// vsftpd in clear text.
        case ftp
        /// vsftpd with explicit TLS (AUTH TLS), whose data connections have to resume the session of the control
        /// connection.
        case explicitTLS
        /// pyftpdlib with implicit TLS.
        case implicitTLS
        /// vsftpd in active mode: the server opens the data connections.
        case active

        var testDescription: String { rawValue }
        var isSSH: Bool { self == .sftp }
    }

    static let isWanted = SSHServer.isWanted && FTPServer.isWanted

    let kind: Kind
    let ssh: SSHServer?
    let ftp: FTPServer?
    /// The root of URL paths, a folder on the disk of this machine.
    let root: TemporaryFolder
    private let rules: TLSRules

    init(_ kind: Kind) async throws {
        self.kind = kind
        root = try TemporaryFolder("root")
        let authority = try await ServerCertificate.make(in: root)
        // vsftpd refuses logins if the user can write to the root folder.
        chmod(root.path, 0o755)
        let served = try root.folder("served")
        chmod(served, 0o777)
        var options: FTPServer.Options
        switch kind {
        case .sftp:
            ssh = try await SSHServer.start()
            ftp = nil
            rules = .system
            return
        case .ftp, .active: options = .vsftpd()
        case .explicitTLS: options = .vsftpd(authority)
        case .implicitTLS: options = .implicitTLS(authority)
        }
        options.root = root.path
        ssh = nil
        ftp = try await FTPServer.start(options)
        rules = TLSRules(anchors: try TrustAnchors(pemFile: authority.path))
    }

    func url(_ name: String) -> String { ssh?.url(disk(name)) ?? ftp?.url("/served/\(name)") ?? "" }

    func disk(_ name: String) -> String { root.path("served/\(name)") }

    func configure(_ settings: inout ExchangeSettings) {
        settings.tls = rules
        if let ssh {
            settings.files.knownHosts = ssh.knownHosts
            settings.files.privateKey = FileServerSettings.PrivateKey(path: ssh.userKey)
            settings.credentials = .password(user: SSHServer.userName, password: "")
        }
        settings.files.requiresTLS = kind == .explicitTLS
        settings.files.usesActiveMode = kind == .active
    }

    /// Cuts every open connection.
    func cut() {
        ssh?.signalSessions(SIGKILL)
        if kind == .implicitTLS { ftp?.cut() } else { ftp?.signalSessions(SIGKILL) }
    }

    /// Stops or continues all processes that serve connections.
    func setStopped(_ isStopped: Bool) {
        let signal = isStopped ? SIGSTOP : SIGCONT
        ssh?.signalSessions(signal)
        ftp?.signal(signal)
    }

    func with(_ body: (Bench) async throws -> Void) async throws { try await Bench.with(body) }

    @discardableResult
    func put(_ count: Int, seed: UInt64 = 1, as name: String) throws -> [UInt8] {
        try root.write(count: count, seed: seed, to: "served/\(name)")
        // Entity tags and MDTM of FTP have whole seconds: a file that has just been written could share its tag with
        // the next version.
        try setTime(1_600_000_000, of: name)
        chmod(disk(name), 0o666)
        return try bytes(name)
    }

    func setTime(_ seconds: Int, of name: String) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: TimeInterval(seconds))], ofItemAtPath: disk(name))
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try root.data("served/\(name)")) }

    func exists(_ name: String) -> Bool { root.exists("served/\(name)") }
}
