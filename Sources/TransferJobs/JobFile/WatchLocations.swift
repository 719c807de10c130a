/// Where an entry of `"watch"` stands in its file.
public struct WatchLocations: Sendable, Hashable {
    /// The entry's number in the file, counted from 0.
    public var index: Int
    public var entry: SourceSpan
    public var folder: SourceSpan

    public init(index: Int, entry: SourceSpan, folder: SourceSpan) {
        self.index = index
        self.entry = entry
        self.folder = folder
    }

    /// The entry's JSON path: `$.watch[0]`.
    public var path: String { "$.watch[\(index)]" }

    /// A fault about the folder.
    public func folderFault(_ message: String) -> JobFileFault {
        JobFileFault(message: message, path: path + ".folder", span: folder)
    }
}

/// Byte ranges of an entry's parts that faults found later are about.
package struct WatchPlaces {
    package var entry: Range<Int>
    package var folder: Range<Int>?
    package var to: Range<Int>?
    package var then: Range<Int>?
    package var keepFor: Range<Int>?

    package func range(of part: WatchSpec.Part) -> Range<Int> {
        switch part {
        case .folder: folder ?? entry
        case .url: to ?? entry
        case .then: then ?? entry
        case .keepFor: keepFor ?? entry
        }
    }
}
