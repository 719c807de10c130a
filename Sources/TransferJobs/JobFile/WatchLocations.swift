/// The place of an entry of `"watch"` in its file.
public struct WatchLocations: Sendable, Hashable {
    /// The entry's index in the file, counted from 0.
    public var index: Int
    /// The place of the whole entry.
    public var entry: SourceSpan
    /// The place of the value of `folder`.
    public var folder: SourceSpan

    /// Creates the places of an entry; `index` counts from 0.
    public init(index: Int, entry: SourceSpan, folder: SourceSpan) {
        self.index = index
        self.entry = entry
        self.folder = folder
    }

    /// The entry's JSON path: `$.watch[0]`.
    public var path: String { "$.watch[\(index)]" }

    /// Returns a fault about the folder.
    public func folderFault(_ message: String) -> JobFileFault {
        JobFileFault(message: message, path: path + ".folder", span: folder)
    }
}

/// The byte ranges of an entry's parts, for faults that are found later.
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
