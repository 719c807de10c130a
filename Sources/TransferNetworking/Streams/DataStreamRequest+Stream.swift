extension DataStreamRequest.Stream {
    /// The result of a piece; `nil` at the end.
    public var result: Result<Success, Failure>? {
        if case .stream(let result) = event { return result }
        return nil
    }

    /// The value of a piece that could be made; `nil` otherwise.
    public var value: Success? { try? result?.get() }

    /// The error of a piece that couldn't be made; `nil` otherwise.
    public var error: Failure? {
        if case .failure(let error) = result { return error }
        return nil
    }

    /// At the end; `nil` before.
    public var completion: DataStreamRequest.Completion? {
        if case .complete(let completion) = event { return completion }
        return nil
    }
}
