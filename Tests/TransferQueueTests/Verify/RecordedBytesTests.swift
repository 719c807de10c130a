import Testing
import TransferCore
import TransferTestSupport

@testable import TransferQueue

/// The file that a repair made, compared with the record of the original file.
@Suite struct RecordedBytesTests {
    private let folder: TemporaryFolder
    private let path: String
    private let reading: FileReading

    init() throws {
        folder = try TemporaryFolder("recorded")
        path = try folder.write("the bytes that came", to: "f")
        reading = try FileReading(path, algorithm: .sha256)
    }

    private func recorded(digest: Bool = false, sums: Bool = false, size: Int64? = nil) -> RecordedBytes {
        RecordedBytes(
            size: size ?? reading.size, digest: digest ? reading.digest : nil, sums: sums ? reading.sums : nil)
    }

    @Test(arguments: [(true, false), (false, true), (true, true), (false, false)])
    func theSameBytesAreTheFile(_ digest: Bool, _ sums: Bool) throws {
        #expect(try recorded(digest: digest, sums: sums).refutation(of: path) == nil)
    }

    /// The arguments are each record × different bytes of the same length, and fewer bytes.
    @Test(arguments: [(true, false), (false, true), (false, false)], ["the bytes that CAME", "a page"])
    func otherBytesAreRefused(_ record: (digest: Bool, sums: Bool), _ text: String) throws {
        let other = try folder.write(text, to: "g")
        let refutation = try recorded(digest: record.digest, sums: record.sums).refutation(of: other)
        // Without a digest and sums only the length can be compared.
        let isReported = record.digest || record.sums || text.utf8.count != Int(reading.size)
        #expect((refutation != nil) == isReported)
        if isReported { #expect(refutation?.code == .checksumMismatch) }
    }
}
