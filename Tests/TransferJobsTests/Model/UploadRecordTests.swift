import FoundationEssentials
import Testing
import TransferCore
import TransferUpload

@testable import TransferJobs

/// The stored records of uploads, in the form of this version and in the forms of earlier versions.
@Suite struct UploadRecordTests {
    private static let stamp = FileStamp(inode: 7, size: 9, modified: 1, changed: 5)

    /// The records as versions before the envelope wrote them.
    private static let earlier: [(state: String, kind: String, canAsk: Bool, mayBeComplete: Bool, isHeld: Bool)] = [
        ("put:1795262400", "put", true, false, false),
        ("accepted:1795262400:2", "accepted", true, false, true),
        (#"verify:{"url":"http://h/f","status":201}"#, "verify", true, false, false),
        (#"{"isVersionHeard":true,"length":9,"url":"http://h/u1","version":8}"#, "resumable", true, false, true),
        (#"{"isEnding":true,"length":9,"url":"http://h/u1","version":8}"#, "resumable", true, true, true),
        (#"{"length":9,"version":6}"#, "resumable", false, false, true),
        (
            #"{"parts":[{"from":0,"to":9,"url":"http://h/u1"}],"size":9,"to":"http://h/files","version":1}"#, "tus",
            true, false, true
        ),
        ("s3/1 size=9 part=5242880 upload=u%2F1", "s3", true, false, true),
        ("s3/1 size=9 creating=1795262400 tries=1", "s3", true, false, true),
        (
            #"{"generation":0,"mark":"m1","part":"ftp://h/in/.f.m1.part","size":9,"to":"ftp://h/in/f","version":1}"#,
            "files", true, false, true
        ),
        (#"{"inPlace":"ftp://h/in/f","left":"part","parts":[],"version":1}"#, "inPlace", false, false, true),
        ("", "nothing", false, false, false), ("{}", "unknown", false, false, true),
    ]

    @Test(arguments: earlier)
    func aRecordOfAnEarlierVersionIsRead(
        _ state: String, _ kind: String, _ canAsk: Bool, _ mayBeComplete: Bool, _ isHeld: Bool
    ) throws {
        let quoted = String(decoding: try JSONEncoder().encode(state), as: UTF8.self)
        let text = #"{"size":9,"modified":1,"changed":5,"inode":7,"state":\#(quoted),"confirmed":4}"#
        let record = try #require(UploadRecord(text: text))
        let read = try #require(record.state)
        #expect(record == UploadRecord(Self.stamp, state: read, confirmed: 4))
        #expect(read.kind == kind && read.canAsk == canAsk && read.mayBeComplete == mayBeComplete)
        #expect(read.isHeld == isHeld && record.knowsTheWay == canAsk)
        // This version's own form holds the same values.
        #expect(try #require(record.text.flatMap { UploadRecord(text: $0) }) == record)
    }

    @Test func aVersionWithoutAStateIsReadToo() throws {
        let record = try #require(UploadRecord(text: #"{"size":9,"modified":1,"confirmed":0}"#))
        #expect(record.state == nil && !record.knowsTheWay && record.changed == nil)
    }
}
