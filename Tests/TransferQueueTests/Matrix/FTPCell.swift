import Foundation
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs

/// The fault of an FTP server during an upload.
struct FTPFault: Sendable {
    var name: String
    /// The command that the fault hits, and the fault after this number of bytes; `isWhole` where all bytes were
    /// received.
    var command: String
    var make: @Sendable (_ after: Int64, _ isWhole: Bool) -> FTPScriptServer.Fault
    var nature: MatrixNature = .passing
    /// Whether the fault hits the stream of bytes, and not one command.
    var isOfBody = true
    var isForEver = false
    var stalls = false
    /// The number of attempts that break off in the middle before the command is sent.
    var cuts = 0

    static let all: [FTPFault] = {
        var faults: [FTPFault] = []
        // RFC 959 §4.2: a 4xx reply is transient, a 5xx reply is permanent; 552 is a quota.
        for reply in [421, 425, 426, 450, 451, 452] { faults.append(body("\(reply) \(words)", .passing)) }
        for reply in [532, 550, 552, 553] { faults.append(body("\(reply) \(words)", .final("\(reply)"))) }
        faults.append(body("450 \(words)", .final("450")).forEver())
        faults.append(
            FTPFault(name: "cut", command: "STOR") { after, isWhole in
                isWhole ? .misreport(nil) : .cut(after: after, reply: nil)
            })
        var stall = FTPFault(name: "a stall", command: "STOR") { after, _ in .stall(after: after) }
        stall.stalls = true
        faults.append(stall)
        faults.append(single("530 too many users, to the login", "PASS", .reply("530 too many users"), .passing))
        faults.append(single("530 wrong password, to the login", "PASS", .reply("530 wrong password"), .final("530")))
        faults.append(single("421 to the login", "USER", .reply("421 too many"), .passing))
        faults.append(single("hung up at the login", "USER", .hangUp, .passing))
        faults.append(single("502 to EPSV", "EPSV", .reply("502 not here"), .passing))
        faults.append(single("425 to EPSV", "EPSV", .reply("425 no port"), .passing))
        for reply in ["450 busy", "553 not this name"] {
            faults.append(single("\(reply.prefix(3)) to RNTO", "RNTO", .reply(reply), .passing))
        }
        faults.append(single("550 to RNTO", "RNTO", .reply("550 no"), .final("550")))
        faults.append(single("no answer to RNTO", "RNTO", .misreport(nil), .passing))
        // An account that may not rename gets the file under its own name.
        faults.append(single("550 to RNFR", "RNFR", .reply("550 no"), .passing))
        for reply in ["550 no", "502 not here", "421 later"] {
            // After the last byte, on a server that does not know the query command, nothing shows whether the file has
            // arrived.
            let nature = reply.hasPrefix("421") ? MatrixNature.passing : .either
            var asked = single("\(reply.prefix(3)) to SIZE", "SIZE", .reply(reply), nature)
            asked.cuts = 1
            faults.append(asked)
        }
        var appended = single("502 to APPE", "APPE", .reply("502 not here"), .passing)
        appended.cuts = 1
        faults.append(appended)
        return faults
    }()

    private static let words = "the server's words"

    private static func body(_ reply: String, _ nature: MatrixNature) -> FTPFault {
        FTPFault(
            name: String(reply.prefix(3)), command: "STOR",
            make: { after, isWhole in
                if after == 0 { return .reply(reply) }
                return isWhole ? .misreport(reply) : .cut(after: after, reply: reply)
            }, nature: nature)
    }

    private static func single(
        _ name: String, _ command: String, _ fault: FTPScriptServer.Fault, _ nature: MatrixNature
    ) -> FTPFault {
        FTPFault(name: name, command: command, make: { _, _ in fault }, nature: nature, isOfBody: false)
    }

    /// Returns the fault with its meaning at a moment. A file that arrived in part, or as a whole, is queried and
    /// continued with APPE, whatever reply STOR got at its end. A client receives a quota's reply only after it has
    /// sent all bytes.
    func of(_ moment: MatrixMoment) -> FTPFault {
        // An account that may not make the name of the part gets the file under its own.
        if isOfBody, !isForEver, moment == .first, nature == .final("550") || nature == .final("553") {
            var fault = self
            fault.nature = .passing
            return fault
        }
        guard isOfBody, moment != .first, case .final(let word) = nature else { return self }
        if word == "552", moment != .middle { return self }
        var fault = self
        // A client may also read the reply while it still sends.
        fault.nature = word == "552" ? .either : .passing
        return fault
    }

    func forEver() -> FTPFault {
        var fault = self
        (fault.name, fault.isForEver) = (name + ", for ever", true)
        return fault
    }
}

/// A file that is sent to an FTP server that misbehaves once or permanently.
struct FTPCell: Sendable {
    let moment: MatrixMoment
    let fault: FTPFault

    private static let count = 300_000

    func run(_ bench: MatrixBench) async throws -> MatrixOutcome {
        let server = try FTPScriptServer()
        defer { server.stop() }
        let folder = try TemporaryFolder("cell")
        try folder.write(count: Self.count, seed: 3, to: "f")
        let after: Int64 =
            switch moment {
            case .first: 0
            case .middle: Int64(Self.count / 2)
            case .last: Int64(Self.count - 1)
            case .after: Int64(Self.count)
            }
        let made = fault.make(after, moment == .after)
        if fault.cuts > 0 { server.script("STOR", [.cut(after: after, reply: nil)]) }
        server.script(fault.command, [made], afterwards: fault.isForEver ? made : nil)
        let upload = JobSpec.Upload(source: folder.path("f"), url: server.url("/in/f"), uploadProtocol: .ftp)
        let job = JobSpec(id: "f", work: .upload(upload), settings: MatrixBench.settings(stalls: fault.stalls))
        let bytes = Array(try folder.data("f"))
        return try await UploadJudge(
            bench: bench, batch: folder.path, job: job, nature: fault.nature,
            object: { server.files["/in/f"] }, requests: { server.commands.count { $0 == "STOR" || $0 == "APPE" } },
            mostRequests: MatrixBench.limit * 2 + 2, heal: { server.script(fault.command, []) }
        ).judge(bytes)
    }

    static func cells() -> [MatrixCell] {
        FTPFault.all.flatMap { fault in
            MatrixMoment.allCases.map { moment in
                let reason = leftOut(fault, moment)
                let fault = fault.of(moment)
                return MatrixCell(way: .ftp, fault: fault.name, moment: moment, leftOut: reason) { bench in
                    try await FTPCell(moment: moment, fault: fault).run(bench)
                }
            }
        }
    }

    static func leftOut(_ fault: FTPFault, _ moment: MatrixMoment) -> String? {
        if fault.isOfBody || fault.cuts > 0 { return nil }
        let comes: MatrixMoment = fault.command.hasPrefix("RN") ? .after : .first
        return moment == comes ? nil : "\(fault.command) comes at one moment only"
    }
}
