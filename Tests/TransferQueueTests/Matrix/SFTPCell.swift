import Foundation
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs

/// The fault of an SFTP server during an upload.
struct SFTPFault: Sendable {
    var name: String
    /// The request that the fault hits.
    var request: String
    /// The code of SSH_FXP_STATUS; without one the connection ends.
    var reply: Int?
    /// Whether the server carries out the request before the fault.
    var isLate = false
    var isForEver = false
    var nature: MatrixNature = .passing
    /// Whether an attempt is cut before the request is sent.
    var isAfterCut = false

    static let all: [SFTPFault] = {
        var faults: [SFTPFault] = []
        faults.append(SFTPFault(name: "cut", request: "WRITE"))
        faults.append(SFTPFault(name: "failure to WRITE", request: "WRITE", reply: 4))
        faults.append(SFTPFault(name: "permission denied to WRITE", request: "WRITE", reply: 3))
        faults.append(SFTPFault(name: "permission denied to OPEN", request: "OPEN", reply: 3, nature: .either))
        faults.append(SFTPFault(name: "no such file to OPEN", request: "OPEN", reply: 2, nature: .either))
        faults.append(SFTPFault(name: "hung up at OPEN", request: "OPEN"))
        faults.append(SFTPFault(name: "no answer to CLOSE", request: "CLOSE", isLate: true))
        faults.append(SFTPFault(name: "permission denied to RENAME", request: "RENAME", reply: 3))
        faults.append(SFTPFault(name: "no answer to RENAME", request: "RENAME", isLate: true))
        faults.append(SFTPFault(name: "hung up at RENAME", request: "RENAME"))
        for code in [3, 4] {
            let words = code == 3 ? "permission denied" : "failure"
            faults.append(
                SFTPFault(name: "\(words) to STAT after a cut", request: "STAT", reply: code, isAfterCut: true))
        }
        return faults
    }()
}

/// A file that is sent to OpenSSH's SFTP server through a relay that injects one fault.
struct SFTPCell: Sendable {
    let moment: MatrixMoment
    let fault: SFTPFault

    private static let count = 300_000

    func run(_ bench: MatrixBench) async throws -> MatrixOutcome {
        guard let ssh = try await bench.ssh.server() else { throw TestSupportError("no SSH server") }
        let relay = try FaultRelay(to: ssh.port)
        defer { relay.stop() }
        let folder = try TemporaryFolder("cell")
        try folder.write(count: Self.count, seed: 3, to: "f")
        let place = try folder.folder("in")
        let after: Int =
            switch moment {
            case .first: 0
            case .middle: Self.count / 2
            case .last: Self.count - 1
            case .after: Self.count
            }
        var faults: [String] = []
        if fault.isAfterCut { faults.append(Self.line("WRITE", after: min(after, Self.count - 1), nil, false, 1)) }
        // The end of the file follows the last WRITE.
        let request = fault.request == "WRITE" && moment == .after ? "CLOSE" : fault.request
        faults.append(Self.line(request, after: after, fault.reply, fault.isLate, fault.isForEver ? -1 : 1))
        try folder.write("[\(faults.joined(separator: ","))]", to: "in/fault.json")
        let url = "sftp://127.0.0.1:\(relay.port)\(place)/f"
        let upload = JobSpec.Upload(source: folder.path("f"), url: url, uploadProtocol: .sftp)
        var settings = MatrixBench.settings()
        var access = JobSettings.SSHAccess()
        access.user = SSHServer.userName
        access.hostKey = try await ssh.fingerprint()
        access.key = ssh.userKey
        access.agent = false
        settings.ssh = access
        let job = JobSpec(id: "f", work: .upload(upload), settings: settings)
        let bytes = Array(try folder.data("f"))
        return try await UploadJudge(
            bench: bench, batch: folder.path, job: job, nature: fault.nature,
            object: { (try? folder.data("in/f")).map(Array.init) }, requests: { relay.connectionCount },
            mostRequests: MatrixBench.limit * 3 + 3, heal: { _ = try? folder.write("[]", to: "in/fault.json") }
        ).judge(bytes)
    }

    private static func line(_ request: String, after: Int, _ reply: Int?, _ isLate: Bool, _ times: Int) -> String {
        let answer = reply.map { ", \"reply\": \($0)" } ?? ""
        return "{\"op\": \"\(request)\", \"after\": \(after), \"late\": \(isLate), \"times\": \(times)\(answer)}"
    }

    static func cells() -> [MatrixCell] {
        SFTPFault.all.flatMap { fault in
            MatrixMoment.allCases.map { moment in
                MatrixCell(way: .sftp, fault: fault.name, moment: moment, leftOut: leftOut(fault, moment)) { bench in
                    try await SFTPCell(moment: moment, fault: fault).run(bench)
                }
            }
        }
    }

    private static func leftOut(_ fault: SFTPFault, _ moment: MatrixMoment) -> String? {
        if fault.isAfterCut { return nil }
        let comes: MatrixMoment
        switch fault.request {
        case "WRITE": return nil
        case "OPEN": comes = .first
        default: comes = .after
        }
        return moment == comes ? nil : "\(fault.request) comes at one moment only"
    }
}

/// The one SSH server for all cells, made for the first cell that needs it; each cell has a port of its own.
actor MatrixSSH {
    private var made: Task<SSHServer?, any Error>?

    func server() async throws -> SSHServer? {
        if let made { return try await made.value }
        let task = Task { () throws -> SSHServer? in
            guard SSHServer.isWanted else { return nil }
            let folder = try TemporaryFolder("sftp-filter")
            try folder.write(SFTPFilterScript.text, to: "filter.py")
            var options = SSHServer.Options()
            options.sftp = "exec /usr/bin/python3 -S -E \(folder.path("filter.py"))"
            let server = try await SSHServer.start(options)
            self.folder = folder
            return server
        }
        made = task
        return try await task.value
    }

    private var folder: TemporaryFolder?
}
