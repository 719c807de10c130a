package import TransferCore

/// One file of a Metalink, with the places of its parts.
package struct MetalinkFile: Sendable {
    package struct Source: Sendable {
        package var url: String
        /// The priority from 1 to 999,999, as in Metalink 4; lower is better.
        package var priority: Int
        /// The source's country in lower-case letters (ISO 3166-1 alpha-2); empty where none is given.
        package var location: String
        package var range: Range<Int>
    }

    /// The path with slashes, as written.
    package var name = ""
    package var nameRange = 0..<1
    /// The range of the element's start tag.
    package var range = 0..<1
    package var size: Int64?
    package var sizeRange: Range<Int>?
    /// The digests with known algorithms.
    package var digests: [Checksum] = []
    /// The lists of piece digests with known algorithms.
    package var pieces: [PieceDigests] = []
    package var piecesRange: Range<Int>?
    package var sources: [Source] = []
    /// The number of sources that cannot be used here, such as torrents.
    package var foreignSources = 0

    /// The checksum with the strongest algorithm.
    package var checksum: Checksum? { digests.max { $0.algorithm.strength < $1.algorithm.strength } }

    /// The pieces with the strongest algorithm; among equal ones, the smallest pieces.
    package var bestPieces: PieceDigests? {
        pieces.max { ($0.algorithm.strength, -$0.length) < ($1.algorithm.strength, -$1.length) }
    }

    /// Returns the URLs, the best first: by location, then by priority, then in the order of the file.
    ///
    /// - Parameter locations: The countries whose sources come first, in order of preference.
    package func urls(near locations: [String]) -> [String] {
        let ranked = sources.enumerated().map { index, source in
            (locations.firstIndex(of: source.location) ?? locations.count, source.priority, index, source.url)
        }
        var seen = Set<String>()
        return ranked.sorted { ($0.0, $0.1, $0.2) < ($1.0, $1.1, $1.2) }.map(\.3).filter { seen.insert($0).inserted }
    }
}

extension DigestAlgorithm {
    /// The strength of the algorithm; higher values are harder to forge.
    package var strength: Int {
        switch self {
        case .md5: 0
        case .sha1: 1
        case .sha256: 2
        case .sha512: 3
        }
    }

    /// Creates an algorithm from its name.
    ///
    /// - Parameter name: A name in IANA's registry of hash functions, such as `sha-256`, or Metalink 3's name.
    package init?(hashName name: String) {
        self.init(rawValue: name.lowercased().filter { $0 != "-" })
    }
}
