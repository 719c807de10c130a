import TransferCore

/// The options of aria2 whose values need a conversion for a job file.
package enum Aria2Meanings {
    package typealias Apply = @Sendable (ListedOption, inout ListDraft) -> ListVerdict

    /// The option `referer`, where `*` means the URL itself.
    package static let referer: Apply = { option, draft in
        guard option.value != "*" else { return .leftOut }
        draft.set(["headers", "Referer"], .string(option.value), at: option.place)
        return .taken
    }

    /// Returns the meaning of a proxy option.
    ///
    /// - Parameter scheme: The scheme of the URLs to which the option applies; `nil` for all.
    package static func proxy(for scheme: String?) -> Apply {
        { option, draft in
            let url = option.value.isEmpty || option.value.contains("://") ? option.value : "http://\(option.value)"
            if url.contains("@") {
                return .refused(ListWays.proxyLogin)
            }
            if let scheme {
                guard draft.scheme == scheme else { return .taken }
            } else if draft.has(["proxy"]) {
                // A proxy for this scheme alone takes precedence.
                return .taken
            }
            draft.set(["proxy"], .string(url), at: option.place)
            return .taken
        }
    }

    package static let netrc: Apply = { option, draft in
        if option.value == "false" { draft.set(["auth", "netrc"], .boolean(true), at: option.place) }
        return .taken
    }

    /// The option `max-tries`, which counts the first attempt; 0 means no limit.
    package static let tries: Apply = { option, draft in
        guard let tries = Int(option.value), tries >= 0 else { return .refused("not a whole number") }
        let retries = tries == 0 ? FieldRanges.retries.upperBound : tries - 1
        draft.set(["retry", "limit"], .integer(retries), at: option.place)
        return .taken
    }

    /// The options that limit the connections of a file; the smallest number applies.
    package static let connections: Apply = { option, draft in
        guard let number = Int(option.value), number > 0 else { return .refused("not a whole number above 0") }
        let most = min(number, FieldRanges.segments.upperBound)
        draft.set(["segments"], .integer(min(most, draft.integer(["segments"]) ?? most)), at: option.place)
        return .taken
    }

    package static let trust: Apply = { option, draft in
        if option.value == "false" { draft.set(["tls", "insecure"], .boolean(true), at: option.place) }
        return .taken
    }

    package static let noCache: Apply = { option, draft in
        if option.value == "true" { draft.set(["headers", "Cache-Control"], .string("no-cache"), at: option.place) }
        return .taken
    }

    package static let passive: Apply = { option, draft in
        if option.value == "false" { draft.set(["ftp", "active"], .boolean(true), at: option.place) }
        return .taken
    }

    package static func choice(_ key: String) -> Apply {
        { option, draft in
            draft.set([key], .boolean(option.value != "false"), at: option.place)
            return .taken
        }
    }

    package static func when(_ value: String, ifExists: String) -> Apply {
        { option, draft in
            guard option.value == value else { return .taken }
            // The rule for files that are fetched only when newer already replaces the file.
            if draft.string(["ifExists"]) != "update" {
                draft.set(["ifExists"], .string(ifExists), at: option.place)
            }
            return .taken
        }
    }
}
