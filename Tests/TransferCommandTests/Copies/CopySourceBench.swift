import Foundation
import Glibc
import Testing
import TransferTestServer
import TransferTestSupport

/// A real server that a copy reads from, whose connections can be cut.
enum CopySourceKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case nginx, moto
    /// vsftpd.
    case ftp
    /// OpenSSH.
    case sftp

    var testDescription: String { rawValue }

    static var available: [CopySourceKind] {
        allCases.filter { kind in
            switch kind {
            case .nginx: true
            case .moto: PythonServer.isWanted
            case .ftp: FTPServer.isWanted
            case .sftp: SSHServer.isWanted
            }
        }
    }
}

final class CopySourceBench: Sendable {
    let url: String
    /// The members of the job.
    let members: String
    private let cutting: @Sendable () -> Void

    /// - Parameter place: The folder of the copy; it gets the files that the job needs.
    init(_ kind: CopySourceKind, size: Int, in place: Workplace) async throws {
        switch kind {
        case .nginx:
            let root = try TemporaryFolder("source")
            try root.write(count: size, seed: 7, to: "f")
            let server = try await NginxServer.start(root: root.path)
            let relay = try FaultRelay(to: server.port)
            url = "http://127.0.0.1:\(relay.port)/f"
            members = ""
            cutting = { [server, root, relay] in withExtendedLifetime((server, root)) { relay.resetAll() } }
        case .moto:
            let peer = try await UploadPeerKind.moto.start()
            let relay = try FaultRelay(to: peer.port)
            let (url, members) = peer.target(relay.port)
            try place.folder.write(count: size, seed: 7, to: "source")
            let put = try Workplace("put")
            try put.folder.write("secret", to: "secret")
            try FileManager.default.moveItem(
                atPath: place.folder.path("source"), toPath: put.folder.path("f"))
            try put.jobs([upload("f", to: url, members)])
            let result = try await put.runJobs()
            #expect(result.exitCode == 0, "\(result)")
            self.url = url
            self.members = try String(members[#require(members.range(of: #""s3":"#)).lowerBound...])
            cutting = { [peer, relay] in withExtendedLifetime(peer) { relay.resetAll() } }
        case .ftp, .sftp:
            let bench = try await FileServerBench(kind == .ftp ? .ftp : .sftp)
            try bench.serve(size)
            url = bench.url("f")
            members = bench.members
            cutting = { bench.cut() }
        }
    }

    /// Ends every connection to the server.
    func cut() { cutting() }
}
