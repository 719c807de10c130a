import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferTestSupport
import TransferWatch

@testable import TransferFolders
@testable import TransferJobs
@testable import TransferStore

/// The identity of a file, by the numbers in the upload history and by its bytes: observation × state × proof.
@Suite struct VersionInquiryTests {
    enum Look: CaseIterable {
        case known, changed, returned, onOtherDevice, renumbered, renumberedGivenUp, replaced, unknown
        case elsewhere, elsewhereBefore, otherTime, otherTimeBefore
    }

    /// The record of the sent bytes, and whether the file has them.
    enum Proof: CaseIterable {
        case none, sameFingerprint, otherFingerprint, sameDigest, otherDigest
    }

    static let rows: [(Look, HistoryState, [Proof], String)] = [
        // The file is unchanged: no bytes are read.
        (.known, .confirmed, Proof.allCases, "nothing"),
        (.known, .failed, Proof.allCases, "nothing"),
        // The file has changed: its bytes decide.
        (.changed, .confirmed, [.sameFingerprint, .sameDigest], "looked"),
        (.changed, .confirmed, [.otherFingerprint, .otherDigest], "rewritten"),
        (.changed, .confirmed, [.none], "nothing"),
        (.changed, .open, Proof.allCases, "later"),
        (.changed, .leftAlone, Proof.allCases, "nothing"),
        (.changed, .failed, [.none, .sameFingerprint, .otherFingerprint], "nothing"),
        (.changed, .failed, [.sameDigest], "looked"),
        (.changed, .failed, [.otherDigest], "rewritten"),
        (.returned, .confirmed, [.none, .sameFingerprint, .sameDigest], "returned"),
        (.returned, .confirmed, [.otherFingerprint, .otherDigest], "rewritten"),
        (.onOtherDevice, .confirmed, [.none, .sameFingerprint, .sameDigest], "renumbered"),
        (.onOtherDevice, .confirmed, [.otherFingerprint, .otherDigest], "rewritten"),
        // The file is in a copy of the folder, or on a file system with new numbers.
        (.renumbered, .confirmed, [.sameFingerprint, .sameDigest], "renumbered"),
        (.renumbered, .confirmed, [.none, .otherFingerprint, .otherDigest], "new"),
        (.renumbered, .open, [.sameFingerprint, .sameDigest], "renumbered"),
        (.renumbered, .open, [.none, .otherFingerprint, .otherDigest], "new"),
        (.renumbered, .failed, [.sameFingerprint, .sameDigest], "renumbered"),
        (.renumbered, .failed, [.none, .otherFingerprint, .otherDigest], "new"),
        // The file may be the one that was to be left alone.
        (.renumbered, .leftAlone, [.none, .sameFingerprint, .sameDigest], "renumbered"),
        (.renumbered, .leftAlone, [.otherFingerprint, .otherDigest], "new"),
        (.renumberedGivenUp, .open, [.none, .sameFingerprint, .sameDigest], "renumbered"),
        (.renumberedGivenUp, .failed, [.none, .sameFingerprint, .sameDigest], "renumbered"),
        (.renumberedGivenUp, .failed, [.otherFingerprint, .otherDigest], "new"),
        // The file was rewritten under its name: a new version by its numbers, the same version where its bytes are the
        // same.
        (.replaced, .confirmed, [.sameFingerprint, .sameDigest], "renumbered"),
        (.replaced, .confirmed, [.none, .otherFingerprint, .otherDigest], "new"),
        (.replaced, .open, [.sameFingerprint, .sameDigest], "renumbered"),
        (.replaced, .failed, [.sameFingerprint, .sameDigest], "renumbered"),
        (.replaced, .failed, [.none, .otherFingerprint, .otherDigest], "new"),
        (.replaced, .leftAlone, [.sameFingerprint, .sameDigest], "renumbered"),
        (.replaced, .leftAlone, [.none, .otherFingerprint, .otherDigest], "new"),
        // The inode belonged to a file that no longer exists.
        (.elsewhere, .confirmed, [.sameFingerprint, .sameDigest], "moved"),
        (.elsewhere, .confirmed, [.none, .otherFingerprint, .otherDigest], "another"),
        (.elsewhere, .leftAlone, [.none, .sameFingerprint, .sameDigest], "moved"),
        (.elsewhere, .leftAlone, [.otherFingerprint, .otherDigest], "another"),
        (.elsewhere, .open, Proof.allCases, "moved"),
        (.elsewhere, .failed, Proof.allCases, "moved"),
        (.otherTime, .confirmed, [.sameFingerprint, .sameDigest], "touched"),
        (.otherTime, .confirmed, [.none, .otherFingerprint, .otherDigest], "new"),
        // The file was touched before its upload was confirmed, or after it was given up.
        (.otherTime, .open, [.sameFingerprint, .sameDigest], "touched"),
        (.otherTime, .open, [.none, .otherFingerprint, .otherDigest], "new"),
        (.otherTime, .failed, [.sameFingerprint, .sameDigest], "touched"),
        (.otherTime, .failed, [.none, .otherFingerprint, .otherDigest], "new"),
        (.otherTime, .leftAlone, [.sameFingerprint, .sameDigest], "touched"),
        (.otherTime, .leftAlone, [.none, .otherFingerprint, .otherDigest], "new"),
        // Files that were there before a start with only new files are not read. Here all files are wanted.
        (.renumbered, .old, Proof.allCases, "new"),
        // The same bytes are in a file that was made since.
        (.elsewhereBefore, .confirmed, [.sameFingerprint, .sameDigest], "another"),
        (.elsewhereBefore, .leftAlone, [.sameFingerprint, .sameDigest], "another"),
        (.elsewhereBefore, .open, Proof.allCases, "moved"),
        (.otherTimeBefore, .confirmed, [.sameFingerprint, .sameDigest], "another"),
        (.unknown, .confirmed, [.none], "new"),
    ]

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("inquiry") }

    private func version(_ path: String) throws -> FileVersion {
        FileVersion(try #require(FolderPlaces(folder.path("in")).file(path)).stamp, path: path)
    }

    private func plan() throws -> WatchPlan {
        try WatchPlan(WatchSpec(folder: try folder.folder("in"), url: "http://h.example/in/{name}"))
    }

    private func row(_ version: FileVersion, _ state: HistoryState, _ proof: Proof) throws -> HistoryRow {
        try folder.write(proof == .otherFingerprint || proof == .otherDigest ? "two" : "one", to: "sent")
        let sent = try SourceFile(folder.path("sent"))
        switch proof {
        case .none: return HistoryRow(id: 7, version: version, state: state, digest: nil)
        case .sameFingerprint, .otherFingerprint:
            return HistoryRow(id: 7, version: version, state: state, digest: nil, fingerprint: sent.fingerprint())
        case .sameDigest, .otherDigest:
            let digest = try FileDigest.compute(sent, .sha256, 0..<sent.size)
            return HistoryRow(id: 7, version: version, state: state, digest: digest)
        }
    }

    private func born() throws -> Int64 {
        try #require(FolderPlaces(folder.path("in")).born("f"), "the temporary folder's file system tells")
    }

    private func look(_ kind: Look, _ file: FileVersion, _ state: HistoryState, _ proof: Proof) throws -> HistoryAnswer
    {
        var recorded = file
        if kind != .known { recorded.stamp.changed = (file.stamp.changed ?? 0) - 1 }
        switch kind {
        case .elsewhere: (recorded.path, recorded.stamp.changed) = ("gone", file.stamp.changed)
        case .elsewhereBefore: (recorded.path, recorded.stamp.changed) = ("gone", try born() - 1)
        case .onOtherDevice: recorded.stamp.device = 0
        case .renumbered, .renumberedGivenUp: recorded.stamp.inode = 1
        case .replaced: (recorded.stamp.inode, recorded.stamp.modified) = (1, file.stamp.modified - 5_000_000_000)
        case .otherTime: recorded.stamp.modified -= 1
        case .otherTimeBefore:
            recorded.stamp.modified -= 1
            (recorded.path, recorded.stamp.changed) = ("gone", try born() - 1)
        case .known, .changed, .returned, .unknown: break
        }
        var row = try row(recorded, state, proof)
        row.isGivenUp = kind == .renumberedGivenUp
        switch kind {
        case .known, .changed: return .known(row)
        case .returned: return .returned(row)
        case .onOtherDevice: return .onOtherDevice(row)
        case .renumbered, .renumberedGivenUp: return .renumbered(row, otherwise: .unknown)
        case .replaced: return .replaced(row, otherwise: .unknown)
        case .elsewhere, .elsewhereBefore: return .elsewhere(row)
        case .otherTime, .otherTimeBefore: return .otherTime(row)
        case .unknown: return .unknown
        }
    }

    @Test(arguments: rows) func bytesDecideWhereNumbersCannot(
        _ kind: Look, _ state: HistoryState, _ proofs: [Proof], _ finding: String
    ) throws {
        let plan = try plan()
        try folder.write("one", to: "in/f")
        let file = try version("f")
        for proof in proofs {
            let look = try look(kind, file, state, proof)
            let offer = VersionInquiry(plan).inquire([file], [look])[0]
            #expect(offer.finding.name == finding, "\(proof)")
        }
    }

    @Test func aHardLinkIsAnotherName() throws {
        let plan = try plan()
        try folder.write("one", to: "in/f")
        try #require(link(folder.path("in/f"), folder.path("in/g")) == 0)
        let row = try row(try version("f"), .confirmed, .none)
        let offer = VersionInquiry(plan).inquire([try version("g")], [.elsewhere(row)])[0]
        guard case .otherName(of: "f") = offer.finding else { throw TestSupportError("\(offer.finding)") }
    }

    /// The new numbers of two files may be each other's former numbers.
    @Test func aNameTakesPrecedenceOverAnInode() throws {
        let plan = try plan()
        try folder.write("one", to: "in/f")
        let file = try version("f")
        var (own, other) = (file, file)
        own.stamp.inode = 1
        other.path = "gone"
        other.stamp.changed = 1
        let look = HistoryAnswer.renumbered(
            try row(own, .confirmed, .sameDigest), otherwise: .elsewhere(try row(other, .confirmed, .otherDigest)))
        #expect(VersionInquiry(plan).inquire([file], [look])[0].finding.name == "renumbered")
    }
}

extension HistoryOffer.Finding {
    fileprivate var name: String { String("\(self)".prefix { $0 != "(" }) }
}
