import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferEngine

@Suite struct SourceFileTests {
    let folder: TemporaryFolder
    let path: String
    private static let size = 1_000_003

    init() throws {
        folder = try TemporaryFolder("source")
        path = try folder.write(count: Self.size, seed: 1, to: "f")
        try folder.setTime("f", seconds: 1_000_000)
    }

    /// Reads the range that is to be sent, in pieces of that length.
    private func send(_ file: SourceFile, _ range: Range<Int64>, piece: Int) throws {
        let part = SourcePart(file, range: range)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: piece, alignment: 16)
        defer { buffer.deallocate() }
        var offset: Int64 = 0
        while offset < part.length { offset += Int64(try part.read(into: buffer, at: offset)) }
    }

    private func overwrite(at offset: Int, keepsTime: Bool = true) throws {
        let descriptor = open(path, O_WRONLY)
        defer { close(descriptor) }
        #expect(pwrite(descriptor, "other", 5, off_t(offset)) == 5)
        if keepsTime { try folder.setTime("f", seconds: 1_000_000) }
    }

    @Test(arguments: [1, 31, 32, 4096, 300_000, 2_000_000])
    func bytesAreTheSameInWhateverPiecesTheyWereRead(_ piece: Int) throws {
        let file = try SourceFile(path)
        let end = piece == 1 ? 1000 : Int64(Self.size)
        try send(file, 0..<end, piece: piece)
        try folder.touch("f", seconds: 2_000_000)
        #expect(file.look() == .retimed && file.isAsOpened)
        #expect(file.hasWhatWasSent())
        #expect(file.look() == .same && !file.isAsOpened)
        #expect(file.stamp.modified == 2_000_000 * 1_000_000_000 + 5)
    }

    @Test(arguments: [0, 500_000, Self.size - 5]) func otherBytesAreFoundWhereverTheyAre(_ offset: Int) throws {
        let file = try SourceFile(path)
        try send(file, 0..<Int64(Self.size), piece: 65536)
        try overwrite(at: offset)
        #expect(file.isUnchanged, "neither length nor time tells")
        #expect(file.look() == .touched)
        #expect(!file.hasWhatWasSent())
        #expect(file.look() == .touched)
    }

    @Test func partsThatWereReadAtOnceAreCompared() throws {
        let file = try SourceFile(path)
        for start in stride(from: Int64(0), to: Int64(Self.size), by: 300_000).reversed() {
            try send(file, start..<min(start + 300_000, Int64(Self.size)), piece: 70_000)
        }
        try folder.touch("f", seconds: 2_000_000)
        #expect(file.hasWhatWasSent())
        try overwrite(at: 299_998)
        #expect(!file.hasWhatWasSent())
    }

    @Test func resentBytesCountAsLastRead() throws {
        let file = try SourceFile(path)
        try send(file, 0..<700_000, piece: 65536)
        try overwrite(at: 10)
        #expect(!file.hasWhatWasSent())
        try send(file, 0..<Int64(Self.size), piece: 65536)
        #expect(file.hasWhatWasSent())
    }

    /// A part is sent again after the part that follows it has been sent.
    @Test func aPartThatIsSentAgainLeavesTheOthersKnown() throws {
        let file = try SourceFile(path)
        try send(file, 0..<400_000, piece: 65536)
        try send(file, 400_000..<Int64(Self.size), piece: 65536)
        try send(file, 0..<400_000, piece: 65536)
        #expect(file.sent.isWhole(Int64(Self.size)))
        try overwrite(at: 900_000)
        #expect(!file.hasWhatWasSent())
    }

    @Test func anUnreadRangeIsNotCountedAsSent() throws {
        let file = try SourceFile(path)
        #expect(file.hasWhatWasSent() && !file.hasWhatWasSent(wholly: true))
        try send(file, 0..<400_000, piece: 65536)
        try send(file, 400_001..<Int64(Self.size), piece: 65536)
        #expect(!file.hasWhatWasSent(wholly: true))
        try send(file, 400_000..<400_001, piece: 65536)
        #expect(file.hasWhatWasSent(wholly: true))
    }

    @Test func bytesOfAnEarlierAttemptAreUnknown() throws {
        let file = try SourceFile(path)
        file.markSentBefore()
        try send(file, 500_000..<Int64(Self.size), piece: 65536)
        #expect(file.look() == .same)
        try folder.touch("f", seconds: 2_000_000)
        #expect(!file.hasWhatWasSent())
    }

    @Test func aSmallFileThatWasReadIsComparedWhole() throws {
        try folder.write("small", to: "s")
        try folder.setTime("s", seconds: 1_000_000)
        let file = try SourceFile(folder.path("s"), readingUpTo: 100)
        try folder.touch("s", seconds: 2_000_000)
        #expect(file.look() == .retimed && file.hasWhatWasSent())
        try folder.rewrite("s", "other", seconds: 2_000_000)
        #expect(file.look() == .retimed && !file.hasWhatWasSent())
    }

    /// Several requests, concurrent or sequential, and those of an earlier attempt.
    @Test(arguments: [false, true]) func partsHaveTheFingerprintOfTheWhole(_ isSecondAttempt: Bool) throws {
        let whole = try SourceFile(path)
        try send(whole, 0..<Int64(Self.size), piece: 65536)
        let file = try SourceFile(path)
        if isSecondAttempt { file.markSentBefore() }
        let middle = Int64(Self.size / 2)
        try send(file, middle..<Int64(Self.size), piece: 65536)
        if !isSecondAttempt { try send(file, 0..<middle, piece: 65536) }
        #expect(file.sentFingerprint == nil)
        file.noteFingerprint()
        #expect(file.sentFingerprint != nil && file.sentFingerprint == whole.sentFingerprint)
    }

    @Test func changedSourcesHaveNoFingerprint() throws {
        for isUnclear in [false, true] {
            let file = try SourceFile(path)
            file.markSentBefore(mayHaveChanged: isUnclear)
            try send(file, 0..<Int64(Self.size / 2), piece: 65536)
            if !isUnclear { try overwrite(at: 5) }
            file.noteFingerprint()
            #expect(file.sentFingerprint == nil)
        }
    }

    @Test func anotherLengthIsAnotherFile() throws {
        let file = try SourceFile(path)
        #expect(truncate(path, off_t(Self.size + 1)) == 0)
        #expect(file.look() == .other && !file.hasWhatWasSent())
    }

    @Test func unrepresentableTimesAreClamped() throws {
        // The year 2300.
        try folder.setTime("f", seconds: 10_413_792_000)
        #expect(try SourceFile(path).stamp.modified == .max)
    }
}
