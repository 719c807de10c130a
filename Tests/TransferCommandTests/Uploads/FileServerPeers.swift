import Foundation
import Glibc
import Synchronization
import Testing
import TransferTestServer
import TransferTestSupport

/// Real file servers, each started anew for a case.
enum FileServerKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    /// OpenSSH.
    case sftp
    /// vsftpd, in clear text.
    case ftp
    /// vsftpd, with TLS by AUTH TLS, and data connections that have to resume its session.
    case ftpTLS
    /// pyftpdlib, TLS from the first byte on, with a user and a password.
    case ftps

    var testDescription: String { rawValue }
    static let isWanted = SSHServer.isWanted && FTPServer.isWanted
}

/// A file server whose connections can be broken, and a working folder for the command.
final class FileServerBench: Sendable {
    static let size = 6 << 20

    let kind: FileServerKind
    let place: Workplace
    /// The relay to the server; FTP's data connections pass through a second relay, or none.
    let relay: FaultRelay
    /// The relay to the data connections of an FTP server, where a test needs it; not with AUTH TLS.
    let dataRelay: FaultRelay?
    private let ssh: SSHServer?
    private let ftp: FTPServer?
    /// The server's folder, on this machine's disk.
    private let root: TemporaryFolder

    /// - Parameters:
    ///   - relaysData: Whether FTP's data connections pass through a relay, which counts, but also buffers some
    ///     megabytes.
    ///   - sendsSlowly: Whether FTP servers send hardly faster than ``defaults(_:)`` lets clients read: the kernel
    ///     would otherwise have the rest of a file long before the client.
    init(_ kind: FileServerKind, relaysData: Bool = false, sendsSlowly: Bool = false) async throws {
        self.kind = kind
        place = try Workplace("files")
        root = try TemporaryFolder("root")
        let certificate = try await ServerCertificate.make(in: root)
        // vsftpd serves no client whose root can be written to.
        chmod(root.path, 0o755)
        chmod(try root.folder("served"), 0o777)
        var options: FTPServer.Options
        switch kind {
        case .sftp: options = FTPServer.Options()
        case .ftp: options = .vsftpd()
        case .ftpTLS: options = .vsftpd(certificate)
        case .ftps: options = .implicitTLS(certificate)
        }
        options.root = root.path
        if sendsSlowly { options.sendRate = 5 << 20 }
        let dataRelay = relaysData ? try FaultRelay(to: 0) : nil
        self.dataRelay = dataRelay
        options.dataRelay = dataRelay?.port
        ssh = kind == .sftp ? try await SSHServer.start() : nil
        ftp = kind == .sftp ? nil : try await FTPServer.start(options)
        relay = try FaultRelay(to: ssh?.port ?? ftp?.port ?? 0)
        if let dataRelay, let ftp, kind == .ftps {
            // The answer is in TLS: the server itself names the relay's port.
            dataRelay.aim { ftp.dataPort }
        } else if let dataRelay {
            // RFC 2428 §3: 229 Entering Extended Passive Mode (|||6446|)
            relay.translate { [dataRelay] bytes in
                let text = String(decoding: bytes, as: UTF8.self)
                guard let match = text.firstMatch(of: /^229 [^(]*\(\|\|\|([0-9]+)\|\)/), let port = UInt16(match.1)
                else { return bytes }
                dataRelay.aim(at: port)
                return Array(text.replacingOccurrences(of: "|||\(port)|", with: "|||\(dataRelay.port)|").utf8)
            }
        }
        try place.folder.write(options.users["alice"] ?? "", to: "secret")
        if let ssh {
            let key = try String(contentsOfFile: ssh.hostKey + ".pub", encoding: .utf8)
            try place.folder.write("[127.0.0.1]:\(relay.port) \(key)", to: "known_hosts")
        }
    }

    deinit {
        relay.stop()
        dataRelay?.stop()
    }

    // MARK: Jobs

    /// - Parameter name: The name in the served folder.
    func url(_ name: String) -> String {
        switch kind {
        case .sftp: "sftp://127.0.0.1:\(relay.port)\(root.path("served"))/\(name)"
        case .ftp, .ftpTLS: "ftp://127.0.0.1:\(relay.port)/served/\(name)"
        case .ftps: "ftps://127.0.0.1:\(relay.port)/served/\(name)"
        }
    }

    /// The members of a job.
    var members: String {
        let ca = #""tls": {"ca": "\#(root.path("certificate.pem"))"}"#
        switch kind {
        case .sftp:
            let key = ssh?.userKey ?? ""
            return #""ssh": {"knownHosts": "\#(place.folder.path("known_hosts"))", "key": "\#(key)", "agent": false}"#
        case .ftp: return #""ftp": {"requireTLS": false}"#
        case .ftpTLS: return #""ftp": {"requireTLS": true}, \#(ca)"#
        case .ftps: return #""auth": {"user": "alice", "password": {"file": "secret"}}, \#(ca)"#
        }
    }

    /// Returns defaults that are slow enough for a cut in the middle.
    private func defaults(_ limit: Int) -> String {
        #""defaults": {"limitRate": "4M", "retry": {"scale": "50ms", "jitter": false, "limit": \#(limit)}}, "#
    }

    func writeUpload(_ count: Int = size, seed: UInt64 = 7, limit: Int = 20, _ more: String = "") throws {
        try place.folder.write(count: count, seed: seed, to: "f")
        let other = more.isEmpty ? "" : ", " + more
        try place.jobs(
            [upload("f", to: url("in/f"), #""id": "f", "createFolders": true, \#(members)\#(other)"#)],
            extra: defaults(limit))
    }

    func writeDownload(limit: Int = 20, _ more: String = "", name: String = "batch") throws {
        let other = more.isEmpty ? "" : ", " + more
        try place.jobs(
            [download(url("f"), to: "g", #""id": "f", \#(members)\#(other)"#)], extra: defaults(limit), name: name)
    }

    /// Puts a file on the server, with a time in the past.
    func serve(_ count: Int = size, seed: UInt64 = 7, modified: TimeInterval = 1_600_000_000) throws {
        try root.write(count: count, seed: seed, to: "served/f")
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: modified)], ofItemAtPath: root.path("served/f"))
    }

    // MARK: The server

    /// Cuts every open connection.
    func cut() {
        ssh?.signalSessions(SIGKILL)
        if kind == .ftps { ftp?.cut() } else { ftp?.signalSessions(SIGKILL) }
    }

    /// Returns the names in the upload folder.
    func names() -> [String] { ((try? FileManager.default.contentsOfDirectory(atPath: root.path("served/in"))) ?? []) }

    /// Makes a folder with the name of a file.
    func makeFolder(_ name: String) throws -> String {
        let path = try root.folder("served/in/\(name)")
        for path in [root.path("served/in"), path] { chmod(path, 0o777) }
        return path
    }

    /// Returns the SHA-256 of each file in the upload folder.
    func sums() async throws -> [String] {
        var sums: [String] = []
        for name in names() { sums.append(try await root.sha256("served/in/\(name)")) }
        return sums
    }

    /// Returns the size of the unfinished upload, in bytes.
    func partSize() -> Int {
        names().first { $0.hasSuffix(".part") }.flatMap { root.size("served/in/\($0)") }.map { Int($0) } ?? 0
    }

    /// Returns the size of a file in the upload folder, in bytes.
    func size(of name: String) -> Int { root.size("served/in/\(name)").map { Int($0) } ?? 0 }

    /// Changes the last byte of a file once, as soon as it has its name and before the client receives the answer. Not
    /// where data connections pass through a relay.
    func spoil(_ name: String) {
        let path = root.path("served/in/\(name)")
        let isSpoilt = Mutex(false)
        relay.translate { bytes in
            // A thread with another connection's answer waits until the change is complete.
            isSpoilt.withLock { isSpoilt in
                guard !isSpoilt, var contents = FileManager.default.contents(atPath: path),
                    let last = contents.popLast()
                else { return }
                contents.append(~last)
                isSpoilt = (try? contents.write(to: URL(fileURLWithPath: path))) != nil
            }
            return bytes
        }
    }

    /// Removes the unfinished uploads, as an administrator does.
    func removeParts() throws {
        for name in names() where name.hasSuffix(".part") {
            try FileManager.default.removeItem(atPath: root.path("served/in/\(name)"))
        }
    }

    func waitForPart(_ bytes: Int) async throws {
        try await until("\(bytes) bytes on the server") { partSize() >= bytes }
    }

    /// Expects that exactly one file is there, and that it equals the current source.
    func expectTheFileOnce(_ location: SourceLocation = #_sourceLocation) throws {
        #expect(names() == ["f"], sourceLocation: location)
        let isSame = try root.data("served/in/f") == place.folder.data("f")
        #expect(isSame, "other bytes", sourceLocation: location)
    }

    func expectTheDownload(_ location: SourceLocation = #_sourceLocation) throws {
        let isSame = try root.data("served/f") == place.folder.data("g")
        #expect(isSame, "other bytes", sourceLocation: location)
        let rest = try place.folder.files().filter { $0.hasSuffix(".part") }
        #expect(rest == [], sourceLocation: location)
    }

    func waitForLocalPart(_ bytes: Int) async throws {
        try await until("\(bytes) bytes here") { (place.folder.size("g.part") ?? 0) >= bytes }
    }

    /// The server's SSH key and log.
    var sshServer: SSHServer? { ssh }
    /// Returns the number of commands with this name that an FTP server received.
    func commands(_ name: String) -> Int {
        guard let ftp else { return 0 }
        return ftp.log().split(separator: "\n").count {
            $0.hasPrefix(name + " ") || $0.contains("FTP command: Client \"127.0.0.1\", \"\(name) ")
        }
    }
}
