import TransferQueue

/// The method `changeUri` of aria2's interface.
struct AriaURIs: Sendable {
    let submissions: SubmissionService

    /// Changes the URLs of a paused download. Its content stays the same, so that its partial file is continued.
    ///
    /// - Returns: The numbers of removed and of added URLs.
    func change(_ parameters: AriaParameters, _ downloads: AriaDownloads) async throws -> JSONValue {
        let gid = try parameters.text(0)
        let index = try parameters.integer(1, from: 1)
        let removed = try parameters.list(2).compactMap(\.text)
        let added = try parameters.list(3).compactMap(\.text)
        let position = parameters[4] == nil ? nil : try parameters.integer(4, from: 0)
        let entry = try await downloads.entry(gid)
        let name = AriaGID.name(entry)
        guard !entry.listed.state.hasEnded else { throw AriaError("Cannot remove URIs from GID#\(name)") }
        guard index == 1 else { throw AriaError("fileIndex is out of range") }
        guard let spec = entry.listed.route?.job, spec.settings.sealed == nil,
            !spec.urls.contains(where: { $0.contains(Redaction.mark) })
        else { throw AriaError("the URIs of GID#\(name) hold a secret; remove it, and add it again") }
        let change = Self.changed(spec.urls, removing: removed, adding: added, at: position)
        guard change.removed + change.added > 0 else { return Self.answer(change) }
        guard entry.listed.state == .paused else {
            throw AriaError("the URIs of GID#\(name) can be changed while it is paused")
        }
        guard !change.urls.isEmpty else { throw AriaError("GID#\(name) needs one URI at least") }
        var changed = spec
        changed.urls = change.urls
        // The content stays that of the stored job, whose own fingerprint may be one of earlier URLs.
        changed.lasting = entry.fingerprint
        try await submissions.restage(try await submissions.confined(changed), batch: entry.batch, isReload: true)
        return Self.answer(change)
    }

    struct Change: Equatable {
        var urls: [String]
        var removed = 0
        var added = 0
    }

    /// Returns a list of URLs without some and with others. A text that is no URL of a source is not added.
    static func changed(
        _ urls: [String], removing: [String], adding: [String], at position: Int?
    ) -> Change {
        var change = Change(urls: urls)
        for url in removing.map({ AriaURL($0)?.url ?? $0 }) {
            guard let index = change.urls.firstIndex(of: url) else { continue }
            change.urls.remove(at: index)
            change.removed += 1
        }
        let new = adding.compactMap { AriaURL($0) }.filter { $0.login == nil }.map(\.url)
        let place = min(position ?? change.urls.count, change.urls.count)
        change.urls.insert(contentsOf: new, at: place)
        change.added = new.count
        return change
    }

    private static func answer(_ change: Change) -> JSONValue {
        .array([.number(String(change.removed)), .number(String(change.added))])
    }
}
