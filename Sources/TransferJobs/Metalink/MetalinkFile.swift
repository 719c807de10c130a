package import TransferCore

/// One file of a Metalink, with where each of its parts stands.
package struct MetalinkFile: Sendable {
    package struct Source: Sendable {
        package var url: String
        /// Lower is better: 1 to 999,999, as in Metalink 4.
        package var priority: Int
        /// The country that it's in, in lower-case letters (ISO 3166-1 alpha-2); empty where nothing is said.
        package var location: String
        package var range: Range<Int>
    }

    /// A path with slashes, as it's written.
    package var name = ""
    package var nameRange = 0..<1
    /// The element's first tag.
    package var range = 0..<1
    package var size: Int64?
    package var sizeRange: Range<Int>?
    /// By algorithms that are known here.
    package var digests: [Checksum] = []
    /// The pieces that are written down, by algorithms that are known here.
    package var pieces: [PieceDigests] = []
    package var piecesRange: Range<Int>?
    package var sources: [Source] = []
    /// Sources by which nothing can be fetched here, such as torrents.
    package var foreignSources = 0

    /// The strongest digest.
    package var checksum: Checksum? { digests.max { $0.algorithm.strength < $1.algorithm.strength } }

    /// The pieces with the strongest digests; of the same ones, the smaller.
    package var bestPieces: PieceDigests? {
        pieces.max { ($0.algorithm.strength, -$0.length) < ($1.algorithm.strength, -$1.length) }
    }

    /// The URLs, the best one first: by where they are, then by their priority, then as they are written down.
    ///
    /// - Parameter locations: Countries whose sources come first, the nearest first.
    package func urls(near locations: [String]) -> [String] {
        let ranked = sources.enumerated().map { index, source in
            (locations.firstIndex(of: source.location) ?? locations.count, source.priority, index, source.url)
        }
        var seen = Set<String>()
        return ranked.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3).filter { seen.insert($0).inserted }
    }
}

extension DigestAlgorithm {
    /// Higher is harder to deceive.
    package var strength: Int {
        switch self {
        case .md5: 0
        case .sha1: 1
        case .sha256: 2
        case .sha512: 3
        }
    }

    /// - Parameter name: A name of IANA's registry of hash functions, such as `sha-256`, or as Metalink 3 has it.
    package init?(hashName name: String) {
        self.init(rawValue: name.lowercased().filter { $0 != "-" })
    }
}
