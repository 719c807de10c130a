import TransferCore

/// A job as another tool's list describes it: the members of a job file's object, each with its place in the list.
///
/// The draft is written as JSON and read by the decoder of job files, so that the same rules apply to every job.
package struct ListDraft: Sendable {
    package enum Value: Sendable {
        case string(String)
        case strings([String])
        case integer(Int)
        case boolean(Bool)
        /// A value that a job file accepts as a number or a text, such as a duration.
        case amount(String)

        fileprivate func write(to writer: inout JSONWriter) {
            switch self {
            case .string(let text), .amount(let text): writer.string(text)
            case .strings(let texts): texts.write(to: &writer)
            case .integer(let number): writer.integer(number)
            case .boolean(let flag): writer.boolean(flag)
            }
        }
    }

    private struct Member: Sendable {
        var path: [String]
        var value: Value
        var place: ListPlace
    }

    /// A second line of a header field, which an object of a job file cannot have.
    fileprivate struct FurtherHeader: Sendable {
        var name: String
        var value: String
        var place: ListPlace
    }

    private var members: [Member] = []
    fileprivate private(set) var further: [FurtherHeader] = []
    /// The place where the job begins.
    package var place: ListPlace
    /// The scheme of the job's URL in lower case; empty where options precede the URL.
    package let scheme: String

    /// Creates a draft.
    ///
    /// - Parameter url: The source of the transfer, where it is known already.
    package init(at place: ListPlace, url: String = "") {
        self.place = place
        scheme = url.contains(":") ? url.prefix { $0 != ":" }.lowercased() : ""
    }

    package var isEmpty: Bool { members.isEmpty }

    /// Sets the value at a path, such as `tls.ca`; a later value replaces an earlier one.
    package mutating func set(_ path: [String], _ value: Value, at place: ListPlace) {
        if let index = index(of: path) {
            members[index].value = value
            members[index].place = place
        } else {
            members.append(Member(path: path, value: value, place: place))
        }
    }

    package mutating func remove(_ path: [String]) { members.removeAll { $0.path == path } }

    package func string(_ path: [String]) -> String? {
        guard let index = index(of: path) else { return nil }
        return switch members[index].value {
        case .string(let text), .amount(let text): text
        default: nil
        }
    }

    package func integer(_ path: [String]) -> Int? {
        guard let index = index(of: path), case .integer(let number) = members[index].value else { return nil }
        return number
    }

    package func has(_ path: [String]) -> Bool { index(of: path) != nil }

    package func place(of path: [String]) -> ListPlace? { index(of: path).map { members[$0].place } }

    /// The rule for a header field whose name occurred before.
    package enum RepeatedHeader: Sendable {
        /// Both values are one field (RFC 9110 §5.3).
        case joined
        /// The request has a line for each, as with curl and aria2.
        case further
        /// The last value counts, as with wget.
        case replaced
    }

    /// Adds a header field.
    package mutating func addHeader(
        _ name: String, _ value: String, at place: ListPlace, repeated: RepeatedHeader = .joined
    ) {
        let known = members.first { $0.path.count == 2 && $0.path[0] == "headers" && $0.path[1].isSameField(name) }
        guard let known, case .string(let first) = known.value else {
            return set(["headers", name], .string(value), at: place)
        }
        switch repeated {
        case .joined: set(known.path, .string(first.isEmpty ? value : "\(first), \(value)"), at: place)
        case .further: further.append(FurtherHeader(name: name, value: value, place: place))
        case .replaced:
            remove(known.path)
            set(["headers", name], .string(value), at: place)
        }
    }

    package mutating func removeHeader(_ name: String) {
        members.removeAll { $0.path.count == 2 && $0.path[0] == "headers" && $0.path[1].isSameField(name) }
        further.removeAll { $0.name.isSameField(name) }
    }

    package func hasHeader(_ name: String) -> Bool {
        members.contains { $0.path.count == 2 && $0.path[0] == "headers" && $0.path[1].isSameField(name) }
    }

    private func index(of path: [String]) -> Int? { members.firstIndex { $0.path == path } }

    /// Returns the object as a job file has it, with the origin in the list of each range of its bytes.
    package func written() -> (json: [UInt8], origins: [(range: Range<Int>, place: ListPlace)]) {
        var writer = JSONWriter()
        var origins: [(range: Range<Int>, place: ListPlace)] = []
        Self.write(members[...], depth: 0, to: &writer, &origins)
        return (writer.bytes, origins)
    }

    private static func write(
        _ members: ArraySlice<Member>, depth: Int, to writer: inout JSONWriter,
        _ origins: inout [(range: Range<Int>, place: ListPlace)]
    ) {
        writer.object { writer in
            var written: Set<String> = []
            for member in members where written.insert(member.path[depth]).inserted {
                let name = member.path[depth]
                let start = writer.bytes.count
                writer.key(name)
                if member.path.count == depth + 1 {
                    member.value.write(to: &writer)
                } else {
                    let inner = members.filter { $0.path.count > depth + 1 && $0.path[depth] == name }
                    write(inner[...], depth: depth + 1, to: &writer, &origins)
                }
                // Inner ranges come first, so that the first range that contains an offset is the nearest.
                origins.append((start..<writer.bytes.count, member.place))
            }
        }
    }
}

extension String {
    /// Returns whether both are names of the same header field.
    fileprivate func isSameField(_ other: String) -> Bool { asciiCaseInsensitiveEquals(other) }
}

extension JobDecoder {
    /// Reads the job that a draft describes.
    ///
    /// - Returns: The job, or `nil` where there are faults; the faults, at their places in the list; and the number of
    ///   further ones.
    package mutating func job(
        of draft: ListDraft
    ) -> (spec: JobSpec?, to: ListPlace, faults: [JobFileFault], uncounted: Int) {
        let (json, origins) = draft.written()
        let to = draft.place(of: ["to"]) ?? draft.place
        return json.withUnsafeBufferPointer { bytes in
            reader = JSONReader(bytes)
            var spec: JobSpec?
            do throws(JSONFault) {
                spec = try job().spec
                for header in draft.further {
                    spec?.settings.headers.append(.init(name: header.name, value: .literal(header.value)))
                }
            } catch {
                note(error.message, error.range)
            }
            let (problems, uncounted) = takeProblems()
            let faults =
                problems.map { problem in
                    let origin = origins.first { $0.range.contains(problem.range.lowerBound) }
                    return (origin?.place ?? draft.place).fault(problem.message)
                }
                + draft.further.compactMap { header in
                    HeaderRule.refusal(ofValue: header.value).map { header.place.fault($0) }
                }
            return (faults.isEmpty && uncounted == 0 ? spec : nil, to, faults, uncounted)
        }
    }
}
