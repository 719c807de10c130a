import FoundationEssentials
import Testing
import TransferCore

@Suite struct ByteRangesTests {
    @Test(
        arguments: [
            ([0..<5, 5..<9], [0..<9]), ([5..<9, 0..<5], [0..<9]), ([0..<5, 6..<9], [0..<5, 6..<9]),
            ([0..<9, 2..<3], [0..<9]),
            ([2..<3, 0..<9], [0..<9]), ([0..<2, 4..<6, 8..<10, 1..<9], [0..<10]),
            ([4..<6, 0..<2, 3..<4], [0..<2, 3..<6]),
            ([3..<3], []), ([0..<2, 4..<6, 2..<4], [0..<6]),
        ] as [([Range<Int64>], [Range<Int64>])])
    func adjacentRangesAreMerged(_ inserted: [Range<Int64>], _ merged: [Range<Int64>]) {
        var ranges = ByteRanges()
        for range in inserted { ranges.insert(range) }
        #expect(ranges.ranges == merged)
        #expect(ranges.count == merged.reduce(0) { $0 + Int64($1.count) })
        #expect(ranges.prefixLength == (merged.first?.lowerBound == 0 ? merged.first?.upperBound : 0) ?? 0)
    }

    @Test func theOrderOfInsertionsDoesNotMatter() {
        for _ in 0..<300 {
            let pieces = (0..<12).map { _ -> Range<Int64> in
                let start = Int64.random(in: 0..<60)
                return start..<start + Int64.random(in: 0..<9)
            }
            var ranges = ByteRanges()
            for piece in pieces { ranges.insert(piece) }
            let bytes = Set(pieces.flatMap(Array.init))
            #expect(Set(ranges.ranges.flatMap(Array.init)) == bytes)
            #expect(ranges.count == Int64(bytes.count))
            #expect(zip(ranges.ranges, ranges.ranges.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound })
            #expect(ranges.prefixLength == (0...).first { !bytes.contains($0) })
        }
    }

    @Test(arguments: ["[5,3]", "[-1,3]", "[1]", "{}", "[\"a\",\"b\"]"])
    func refusesDamagedRecords(_ json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(ByteRanges.self, from: Data(json.utf8)) }
    }
}

@Suite struct ResumeDataTests {
    private func data(written: Int64, synced: Int64, isSequential: Bool = true) -> ResumeData {
        ResumeData(
            url: "http://a.example/x", validator: Validator(etag: "\"a\"", lastModified: "x", isDateStrong: true),
            total: 1000,
            written: ByteRanges(0..<written), synced: ByteRanges(0..<synced), bootID: "boot", mount: "boot",
            isSequential: isSequential,
            partialFile: "/x.part")
    }

    /// On the same mount, the size of a sequential file counts. Otherwise only the durable bytes do.
    @Test(
        arguments: [
            ("boot", true, 100, 700, 700), ("boot", true, 100, 50, 50), ("other", true, 100, 700, 60),
            ("other", true, 100, 30, 30),
            ("boot", false, 100, 700, 100), ("boot", false, 100, 50, 50), ("other", false, 100, 700, 60),
            ("boot", true, 100, 0, 0),
            ("", true, 100, 700, 60), (nil, true, 100, 700, 60), (nil, false, 100, 30, 30),
        ] as [(String?, Bool, Int64, Int64, Int64)])
    func trustsDurableBytes(_ boot: String?, _ isSequential: Bool, _ written: Int64, _ size: Int64, _ trusted: Int64) {
        #expect(
            data(written: written, synced: 60, isSequential: isSequential).trustedLength(
                onMount: boot, fileSize: size) == trusted)
    }

    @Test func bytesBehindAGapAreNotTrusted() {
        var data = data(written: 0, synced: 0, isSequential: false)
        data.written.insert(100..<500)
        data.synced.insert(100..<500)
        #expect(data.trustedLength(onMount: "boot", fileSize: 500) == 0)
        #expect(data.trustedLength(onMount: "other", fileSize: 500) == 0)
    }

    /// Earlier versions recorded boots only, so it is unknown whether the file system stayed mounted.
    @Test func aRecordOfAnOlderVersionVouchesForWhatWasSynced() throws {
        var old = data(written: 500, synced: 400)
        old.mount = nil
        let read = try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(old))
        #expect(read.trustedLength(onMount: "boot", fileSize: 500) == 400)
        #expect(read.trustedLength(onMount: nil, fileSize: 500) == 400)
    }

    @Test func comesBackFromJSON() throws {
        let original = data(written: 500, synced: 400)
        let decoded = try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(original))
        #expect(decoded == original)
        let bare = ResumeData(url: "u", validator: nil, total: nil, bootID: "")
        #expect(try JSONDecoder().decode(ResumeData.self, from: JSONEncoder().encode(bare)) == bare)
    }
}
