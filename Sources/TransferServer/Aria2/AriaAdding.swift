import TransferQueue

/// Downloads that come by aria2's interface: its list's forms and options, read as a job file's, with the bounds of jobs
/// from outside.
struct AriaAdding: Sendable {
    let submissions: SubmissionService
    let downloads: AriaDownloads

    /// Options that are read here, or say nothing of a job.
    private static let own: Set<String> = ["gid", "pause", "dir", "out"]

    /// - Returns: The gid.
    func addURIs(_ parameters: AriaParameters, _ order: AriaOrder) async throws -> String {
        let urls = try parameters.list(0).compactMap(\.text)
        guard !urls.isEmpty else { throw AriaError("URI is not provided.") }
        let supported = urls.filter { JobSpec.isSupported(url: $0) && !$0.utf8.contains { $0 <= 0x20 } }
        guard !supported.isEmpty else { throw AriaError("No URI to download.") }
        let options = try AriaOptions.texts(try parameters.options(1))
        let list = Self.list(supported, options, folder: try folder(options["dir"]))
        let read: OutsideReader.Read
        do {
            read = try await submissions.read(list, format: .urlList, isJobs: false)
        } catch let problem as Problem {
            throw Self.optionFault(problem, list) ?? problem
        }
        guard let spec = read.jobs.first, read.jobs.count == 1 else { throw AriaError("No URI to download.") }
        let gid = try await submit(spec, options)
        if parameters[2] != nil { try await order.move(gid, to: try parameters.integer(2), downloads) }
        return gid
    }

    /// - Returns: The gids.
    func addMetalink(_ parameters: AriaParameters) async throws -> [String] {
        let options = try AriaOptions.texts(try parameters.options(1))
        guard let bytes = Base64.decode(try parameters.text(0)) else {
            throw AriaError("Could not parse Metalink XML document.")
        }
        let read: OutsideReader.Read
        do {
            read = try await submissions.read(bytes, format: .metalink, isJobs: false)
        } catch let problem as Problem where problem.code == "invalidJobs" {
            throw AriaError("Could not parse Metalink XML document.")
        }
        var gids: [String] = []
        for spec in read.jobs { gids.append(try await submit(spec, options)) }
        guard !gids.isEmpty else { throw AriaError("No files to download.") }
        return gids
    }

    /// A value that an option can't have, in aria2's words.
    private static func optionFault(_ problem: Problem, _ list: [UInt8]) -> AriaError? {
        guard problem.code == "invalidJobs", let line = problem.errors.first?.line else { return nil }
        let lines = list.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1), lines[line - 1].first == 0x20 else { return nil }
        return .option(String(decoding: lines[line - 1].dropFirst().prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
    }

    /// The served folder, or one beneath it.
    private func folder(_ dir: String?) throws -> String {
        let root = submissions.served.rules.directory
        guard let dir, !dir.isEmpty else { return root }
        let path = AbsolutePaths(from: root).absolute(dir)
        guard path == root || JobConfinement.inner(of: path, beneath: root) != nil else {
            throw AriaError("dir has to be \(root), or beneath it")
        }
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// An entry of aria2's own list. What isn't an option of it is ignored, as aria2 does.
    private static func list(_ urls: [String], _ options: [String: String], folder: String) -> [UInt8] {
        var text = urls.joined(separator: "\t") + "\n dir=\(folder)\n"
        if let out = options["out"], !out.isEmpty { text += " out=\(out)\n" }
        for (name, value) in options.sorted(by: { $0.key < $1.key }) where !own.contains(name) {
            guard JobFileReader.listOptions.contains(name) || Aria2Options.meaning(of: name) != nil else { continue }
            // Several fields are given as several options.
            for line in value.split(separator: "\n") { text += " \(name)=\(line)\n" }
        }
        return Array(text.utf8)
    }

    /// - Returns: The gid.
    private func submit(_ spec: JobSpec, _ options: [String: String]) async throws -> String {
        var spec = spec
        if case .download(var download) = spec.work, download.ifExists == .verify {
            download.ifExists = .rename
            spec.work = .download(download)
        }
        if let gid = options["gid"] {
            guard AriaGID.isOne(gid), try await submissions.served.look({ try JobNames.download(gid, in: $0) }) == nil
            else {
                throw AriaError("No URI to download.")
            }
            spec.id = gid.lowercased()
        }
        let number = try await taken(spec, startsPaused: options["pause"] == "true")
        let entry = try await submissions.served.look { try $0.job(number: number) }
        guard let entry else { throw AriaError("No URI to download.") }
        return AriaGID.name(entry)
    }

    /// Two downloads of one name get two files, the second one with a number before its extension.
    private func taken(_ spec: JobSpec, startsPaused: Bool) async throws -> Int64 {
        for number in 0..<Self.mostNames {
            let named = number == 0 ? spec : Self.renamed(spec, number)
            do {
                let taken = try await submissions.submit([named], batch: AriaGID.batch, startsPaused: startsPaused)
                if taken.added == 1, let number = taken.numbers.first { return number }
            } catch let problem as Problem where problem.code == "conflict" || problem.code == "invalidJobs" {
                guard spec.id == nil else { throw problem }
            }
        }
        throw AriaError("No file name is free.")
    }

    private static let mostNames = 1000

    /// The same download with a number in its file's name: `a.1.bin`.
    private static func renamed(_ spec: JobSpec, _ number: Int) -> JobSpec {
        guard case .download(var download) = spec.work else { return spec }
        let path = download.expectedFile
        let start = path.lastIndex(of: "/").map { path.index(after: $0) } ?? path.startIndex
        let name = path[start...]
        let dot = name.lastIndex(of: ".").flatMap { $0 > name.startIndex ? $0 : nil } ?? name.endIndex
        download.destination = "\(path[..<start])\(name[..<dot]).\(number)\(name[dot...])"
        var renamed = spec
        renamed.work = .download(download)
        return renamed
    }
}
