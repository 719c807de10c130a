import TransferQueue

/// The methods of aria2's interface that add downloads. They accept aria2's lists and options, which are read like a
/// job file and get the bounds of outside jobs.
struct AriaAdding: Sendable {
    let submissions: SubmissionService
    let downloads: AriaDownloads

    let names = AriaNames()

    /// The options that are read here, or that do not concern a job.
    private static let own: Set<String> = [
        "gid", "pause", "dir", "out", "allow-overwrite", "auto-file-renaming", "http-user", "http-passwd", "ftp-user",
        "ftp-passwd",
    ]

    /// Adds a download by its URLs.
    ///
    /// - Returns: The gid.
    func addURIs(_ parameters: AriaParameters, _ order: AriaOrder) async throws -> String {
        let texts = try parameters.list(0).compactMap(\.text)
        guard !texts.isEmpty else { throw AriaError("URI is not provided.") }
        let urls = texts.compactMap { AriaURL($0) }
        guard !urls.isEmpty else { throw AriaError("No URI to download.") }
        let options = try Self.options(parameters)
        let position = try Self.position(parameters)
        let gid = try await submit(try await read(urls, options, out: options["out"]), options)
        if let position { try await order.move(gid, to: position, downloads) }
        return gid
    }

    /// Adds the downloads of a Metalink. Each gets the options, except for a name and a gid.
    ///
    /// - Returns: The gids.
    func addMetalink(_ parameters: AriaParameters, _ order: AriaOrder) async throws -> [String] {
        guard let bytes = Base64.decode(try parameters.text(0)) else {
            throw AriaError("Could not parse Metalink XML document.")
        }
        var options = try Self.options(parameters)
        for name in ["gid", "out", "checksum"] { options[name] = nil }
        let position = try Self.position(parameters)
        let read: OutsideReader.Read
        do {
            read = try await submissions.read(bytes, format: .metalink, isJobs: false)
        } catch let problem as Problem where problem.code == "invalidJobs" {
            throw AriaError("Could not parse Metalink XML document.")
        }
        // All of them are checked before the first is added.
        var specs: [JobSpec] = []
        for spec in read.jobs { specs.append(try await described(spec, options)) }
        var gids: [String] = []
        for spec in specs { gids.append(try await submit(spec, options)) }
        guard !gids.isEmpty else { throw AriaError("No files to download.") }
        if let position {
            for (index, gid) in gids.enumerated() { try await order.move(gid, to: position + index, downloads) }
        }
        return gids
    }

    private static func options(_ parameters: AriaParameters) throws -> [String: String] {
        let options = try AriaOptions.texts(try parameters.options(1))
        try AriaOptionRule.check(options)
        return options
    }

    private static func position(_ parameters: AriaParameters) throws -> Int? {
        guard parameters[2] != nil else { return nil }
        let position = try parameters.integer(2)
        guard position >= 0 else { throw AriaError("Position must be greater than or equal to 0.") }
        return position
    }

    // MARK: Jobs

    /// Returns the job of a download.
    private func read(_ urls: [AriaURL], _ options: [String: String], out: String?) async throws -> JobSpec {
        // Names do not pass through the list, whose syntax would give braces, blanks and line breaks in them a meaning.
        let (list, destination) = (Self.list(urls.map(\.url), options), try destination(options["dir"], out))
        let read: OutsideReader.Read
        do {
            read = try await submissions.read(list, format: .urlList, isJobs: false)
        } catch let problem as Problem {
            throw Self.optionFault(problem, list) ?? problem
        }
        guard var spec = read.jobs.first, read.jobs.count == 1 else { throw AriaError("No URI to download.") }
        if let login = try login(urls, options) {
            spec.settings.auth = .basic(user: .literal(login.user), password: .literal(login.password))
        }
        if case .download(var download) = spec.work {
            download.ifExists = AriaPlacement.rule(options, download.ifExists)
            download.destination = destination
            spec.work = .download(download)
        }
        return try await submissions.confined(spec)
    }

    /// Returns the path of a download's file, or the folder of a file that the server names.
    private func destination(_ dir: String?, _ out: String?) throws -> String {
        for (name, text) in [("dir", dir), ("out", out)] where text?.utf8.contains(0) == true {
            throw AriaError.option(name)
        }
        return DestinationPath.normalized(try folder(dir) + "/" + (out ?? ""))
    }

    /// Returns the job of a Metalink's file with the settings of options.
    private func described(_ spec: JobSpec, _ options: [String: String]) async throws -> JobSpec {
        guard case .download(let file) = spec.work else { return spec }
        let urls = file.urls.compactMap { AriaURL($0) }
        guard !urls.isEmpty else { throw AriaError("No URI to download.") }
        var result = try await read(urls, options, out: file.expectedFile)
        guard case .download(var download) = result.work else { return spec }
        (download.checksum, download.pieces, download.size) = (file.checksum, file.pieces, file.size)
        result.work = .download(download)
        return result
    }

    /// Returns the login of a download, in its URLs or in its options.
    private func login(_ urls: [AriaURL], _ options: [String: String]) throws -> AriaURL.Login? {
        let logins = Set(urls.map(\.login))
        guard logins.count == 1, var login = logins.first else {
            throw AriaError("the URIs of one download have one login")
        }
        if login == nil {
            let kind = urls.first?.url.lowercased().hasPrefix("ftp") == true ? "ftp" : "http"
            let (user, password) = (options["\(kind)-user"] ?? "", options["\(kind)-passwd"] ?? "")
            if !user.isEmpty || !password.isEmpty { login = AriaURL.Login(user: user, password: password) }
        }
        guard login == nil || submissions.reader.takesSecrets else {
            throw AriaError("this service has no key to keep a password with")
        }
        return login
    }

    /// Returns an error in aria2's words for an invalid value of an option.
    private static func optionFault(_ problem: Problem, _ list: [UInt8]) -> AriaError? {
        guard problem.code == "invalidJobs", let line = problem.errors.first?.line else { return nil }
        let lines = list.split(separator: 0x0A, omittingEmptySubsequences: false)
        guard lines.indices.contains(line - 1), lines[line - 1].first == 0x20 else { return nil }
        return .option(String(decoding: lines[line - 1].dropFirst().prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self))
    }

    /// Returns the served folder, or one beneath it.
    private func folder(_ dir: String?) throws -> String {
        let root = submissions.served.rules.directory
        guard let dir, !dir.isEmpty else { return root }
        let path = AbsolutePaths(from: root).absolute(dir)
        guard path == root || JobConfinement.inner(of: path, beneath: root) != nil else {
            throw AriaError("dir has to be \(root), or beneath it")
        }
        return path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Returns an entry of aria2's own list. Unknown options are ignored, as in aria2.
    private static func list(_ urls: [String], _ options: [String: String]) -> [UInt8] {
        var text = urls.joined(separator: "\t") + "\n"
        for (name, value) in options.sorted(by: { $0.key < $1.key }) where !own.contains(name) {
            guard JobFileReader.listOptions.contains(name) || Aria2Options.meaning(of: name) != nil else { continue }
            // Several values, such as header fields, become several options.
            for line in value.split(separator: "\n") { text += " \(name)=\(line)\n" }
        }
        return Array(text.utf8)
    }

    /// Submits a job.
    ///
    /// - Returns: The gid.
    private func submit(_ spec: JobSpec, _ options: [String: String]) async throws -> String {
        var spec = spec
        if let gid = options["gid"] {
            guard AriaGID.isOne(gid), gid.contains(where: { $0 != "0" }) else {
                throw AriaError("No URI to download.")
            }
            let known = try await submissions.served.look { try JobNames.download(gid, in: $0) }
            guard known.map({ isFree($0, gid) }) ?? true else { throw AriaError("No URI to download.") }
            spec.id = gid.lowercased()
        }
        let number = try await place(spec, startsPaused: options["pause"] == "true")
        let entry = try await submissions.served.look { try $0.job(number: number) }
        guard let entry else { throw AriaError("No URI to download.") }
        return AriaGID.name(entry)
    }

    /// Returns whether the gid of a job can be given again: its client chose it, and has removed the result.
    private func isFree(_ known: JobEntry, _ gid: String) -> Bool {
        known.listed.state.hasEnded && known.listed.job == gid.lowercased() && !downloads.view.shows(known)
    }
}
