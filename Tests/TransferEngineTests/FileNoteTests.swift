import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferEngine

/// The note on a finished file about its origin, and the check whether the file still matches the note.
@Suite struct FileNoteTests {
    private let url = "http://a.example/x"

    /// Makes a finished file of five bytes.
    private func makeFile(_ folder: TemporaryFolder) throws -> String {
        let part = try PartFile.open(folder.path("x.part"))
        try #require(pwrite(part.descriptor, "bytes", 5, 0) == 5)
        part.setModificationTime(1_600_000_000)
        let record = ResumeData(
            url: url, validator: Validator(etag: "\"a\""), total: 5, written: ByteRanges(0..<5), bootID: "")
        try #require(part.record(record), "the temporary folder's file system keeps no extended attributes")
        part.noteModificationTime()
        try part.rename(to: folder.path("x"), replacing: false)
        part.noteNaming()
        return folder.path("x")
    }

    private func stamp(_ path: String) throws -> FileStamp {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        return FileStamp(status)
    }

    @Test func anUntouchedFileIsRecognisedExactly() throws {
        let folder = try TemporaryFolder("note")
        let path = try makeFile(folder)
        let now = try stamp(path)
        let note = try #require(FileNote.read(path, now, from: url))
        #expect(note.isExact && note.validator?.etag == "\"a\"")
        #expect(FileNote.read(path, now, from: url + "2") == nil, "its validator means nothing there")
    }

    /// The bytes differ, while size and time are unchanged.
    @Test func aLaterChangeLeavesOnlyItsLooks() throws {
        let folder = try TemporaryFolder("note")
        let path = try makeFile(folder)
        var later = try stamp(path)
        later.changed = (later.changed ?? 0) + 3_000_000
        let note = try #require(FileNote.read(path, later, from: url))
        #expect(!note.isExact)
    }

    @Test func anotherSizeOrTimeIsAnotherFile() throws {
        let folder = try TemporaryFolder("note")
        let path = try makeFile(folder)
        for change in [\FileStamp.size, \.modified] as [WritableKeyPath<FileStamp, Int64>] {
            var other = try stamp(path)
            other[keyPath: change] += 1
            #expect(FileNote.read(path, other, from: url) == nil)
        }
    }

    @Test(
        arguments: [
            (1_000_000_000, 1_000_000_000, true), (1_000_800_000, 1_000_000_000, true),
            (999_300_000, 1_000_000_000, true), (1_003_000_000, 1_000_000_000, false), (nil, 1, false), (1, nil, false),
        ] as [(Int64?, Int64?, Bool)])
    func theLastChangeIsTheNaming(_ changed: Int64?, _ named: Int64?, _ isExact: Bool) {
        #expect(FileNote.isItsNaming(changed: changed, named: named) == isExact)
    }
}
