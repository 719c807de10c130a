/// The places of a job in its file. They serve faults that show only once all jobs are known: equal destinations,
/// unknown needs and cycles.
public struct JobLocations: Sendable, Hashable {
    /// The job's number in the file, counted from 0.
    public var index: Int
    /// The place of the whole job.
    public var job: SourceSpan
    /// The place of the job's ID; `nil` where it has none.
    public var id: SourceSpan?
    /// The place of the destination; in a list of URLs without one, the place of the URL.
    public var to: SourceSpan
    /// The places of the job's needs, in their order.
    public var needs: [SourceSpan]
    /// The form of the file.
    public var format: JobFileFormat
    /// The places of the network rules, including those inherited from the batch.
    public var network: NetworkPlaces

    /// Creates the places of a job; `index` counts from 0.
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

    /// The JSON path of the job: `$.jobs[3]`, or `$` where each line is a document of its own. It is empty in a list of
    /// URLs and in a Metalink.
    public var path: String {
        switch format {
        case .json: "$.jobs[\(index)]"
        case .jsonLines: "$"
        case .urlList, .plainURLs, .curl, .csv, .metalink: ""
        }
    }

    /// Returns the JSON path of a part of the job, such as `$.jobs[3].needs[0]`; empty in a list of URLs and in a
    /// Metalink.
    public func path(of part: String) -> String {
        format.isList || format == .metalink ? "" : "\(path).\(part)"
    }

    /// Returns a fault about the job's destination.
    public func destinationFault(_ message: String) -> JobFileFault {
        JobFileFault(message: message, path: path(of: "to"), span: to)
    }

    /// Returns a fault about the job's ID, or about its destination where that identifies the job.
    public func identityFault(_ message: String) -> JobFileFault {
        guard let id else { return destinationFault(message) }
        return JobFileFault(message: message, path: path(of: "id"), span: id)
    }

    /// Returns a fault about one of the job's needs.
    public func needFault(_ message: String, at position: Int) -> JobFileFault {
        JobFileFault(
            message: message, path: path(of: "needs[\(position)]"),
            span: needs.indices.contains(position) ? needs[position] : job)
    }
}

extension JobLocations {
    /// Creates the places of a job.
    ///
    /// - Parameter cursor: A position at or before the job.
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
    /// Creates places from byte ranges.
    ///
    /// - Parameter cursor: A position before all of the ranges.
    package init(_ ranges: [NetworkKey: Range<Int>], cursor: SourceCursor, in bytes: UnsafeBufferPointer<UInt8>) {
        self.init()
        for (key, range) in ranges { self[key] = cursor.span(range, in: bytes) }
    }
}
