import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferEngine

/// The choice of `NAME.part.map` files that are trusted, and of those that are left alone.
@Suite struct SegmentLogTests {
    private let folder: TemporaryFolder
    private let part: PartFile
    private var map: String { folder.path("x.part.map") }

    init() throws {
        folder = try TemporaryFolder("map")
        part = try PartFile.open(folder.path("x.part"))
        #expect(ftruncate(part.descriptor, 1000) == 0)
    }

    private func make(mark: UInt64 = 7) throws {
        let log = try SegmentLog.make(beside: part.asLogged, total: 1000, mark: mark, [0..<100])
        try log.add(1, start: 500, position: 600)
    }

    private func read(mark: UInt64? = 7) -> ByteRanges? { SegmentLog.read(beside: part.asLogged, mark: mark)?.received }

    @Test func anOwnMapIsTrusted() throws {
        try make()
        #expect(read()?.ranges == [0..<100, 500..<600])
        // Records of older versions have no mark.
        #expect(read(mark: nil) == read())
    }

    /// The inode number of a removed file is given to the next file.
    @Test func theMapOfAReusedInodeIsNotTrusted() throws {
        try make(mark: 8)
        #expect(read() == nil)
    }

    @Test func aMapWithASecondNameIsNotTrusted() throws {
        try make()
        #expect(link(map, folder.path("other")) == 0)
        #expect(read() == nil)
        #expect(throws: TransferError.self) { try make() }
        SegmentLog.remove(beside: part.asLogged)
        #expect(access(map, F_OK) == 0)
    }

    @Test(.enabled(if: geteuid() == 0, "needs root")) func anotherUsersMapIsNotTrusted() throws {
        try make()
        #expect(chown(map, 65534, 65534) == 0)
        #expect(read() == nil)
        let error = #expect(throws: TransferError.self) { try make() }
        #expect(error?.errno == EEXIST)
        SegmentLog.remove(beside: part.asLogged)
        #expect(access(map, F_OK) == 0)
    }

    /// The name was durable at the power failure, and the content was not.
    @Test func aMapOfZerosIsMadeAnew() throws {
        try make()
        #expect(truncate(map, 0) == 0 && truncate(map, 4096) == 0)
        #expect(read() == nil)
        try make()
        #expect(read() != nil)
        #expect(truncate(map, 0) == 0 && truncate(map, 4096) == 0)
        SegmentLog.remove(beside: part.asLogged)
        #expect(access(map, F_OK) != 0)
    }

    @Test(arguments: ["", "somebody's notes", String(repeating: "0", count: 4096)])
    func somethingElseOfThatNameStays(_ text: String) throws {
        try folder.write(text, to: "x.part.map")
        #expect(read() == nil)
        #expect(throws: TransferError.self) { try make() }
        SegmentLog.remove(beside: part.asLogged)
        #expect(try folder.text("x.part.map") == text)
    }
}
