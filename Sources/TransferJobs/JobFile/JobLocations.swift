/// Where a job stands in its file, for faults that only show when all jobs are known: equal destinations, unknown
/// needs, cycles.
public struct JobLocations: Sendable, Hashable {
    /// The job's number in the file, counted from 0.
    public var index: Int
    public var job: SourceSpan
    public var id: SourceSpan?
    /// The destination; in a list of URLs, where it may be left out, the URL.
    public var to: SourceSpan
    /// One for each of the job's needs, in their order.
    public var needs: [SourceSpan]
    public var format: JobFileFormat
    /// The rules of its network, also those that it has from its batch.
    public var network: NetworkPlaces

    public init(
        index: Int, job: SourceSpan, id: SourceSpan? = nil, to: SourceSpan, needs: [SourceSpan] = [],
        format: JobFileFormat = .json, network: NetworkPlaces = NetworkPlaces()
    ) {
        self.index = index
        self.job = job
        self.id = id
        self.to = to
        self.needs = needs
        self.format = format
        self.network = network
    }

    /// The JSON path of the job: `$.jobs[3]`, or `$` when a line is a document of its own; empty in a list of URLs and in a Metalink.
    public var path: String {
        switch format {
        case .json: "$.jobs[\(index)]"
        case .jsonLines: "$"
        case .urlList, .plainURLs, .curl, .csv, .metalink: ""
        }
    }

    /// The JSON path of a part of the job, such as `$.jobs[3].needs[0]`; empty in a list of URLs and in a Metalink.
    public func path(of part: String) -> String {
        format.isList || format == .metalink ? "" : "\(path).\(part)"
    }

    /// A fault about the job's destination.
    public func destinationFault(_ message: String) -> JobFileFault {
        JobFileFault(message: message, path: path(of: "to"), span: to)
    }

    /// A fault about the job's ID, or about its destination when that is its identity.
    public func identityFault(_ message: String) -> JobFileFault {
        guard let id else { return destinationFault(message) }
        return JobFileFault(message: message, path: path(of: "id"), span: id)
    }

    /// A fault about one of the job's needs.
    public func needFault(_ message: String, at position: Int) -> JobFileFault {
        JobFileFault(
            message: message, path: path(of: "needs[\(position)]"),
            span: needs.indices.contains(position) ? needs[position] : job)
    }
}

extension JobLocations {
    /// - Parameter cursor: Stands at or before the job.
    package init(
        _ places: JobPlaces, index: Int, format: JobFileFormat, cursor: SourceCursor,
        in bytes: UnsafeBufferPointer<UInt8>
    ) {
        let job = cursor.span(places.job, in: bytes)
        self.init(
            index: index, job: job, id: places.id.map { cursor.span($0, in: bytes) },
            to: places.to.map { cursor.span($0, in: bytes) } ?? job,
            needs: places.needs.isEmpty ? [] : cursor.spans(places.needs, in: bytes), format: format,
            network: NetworkPlaces(places.network, cursor: cursor, in: bytes).over(places.defaultNetwork))
    }
}

extension NetworkPlaces {
    /// - Parameter cursor: Stands before all of them.
    package init(_ ranges: [NetworkKey: Range<Int>], cursor: SourceCursor, in bytes: UnsafeBufferPointer<UInt8>) {
        self.init()
        for (key, range) in ranges { self[key] = cursor.span(range, in: bytes) }
    }
}
