package store

// tidySearch returns back what the search index holds of exchanges that are gone.
func (p *pruning) tidySearch() error {
	for done, more := int64(1), true; more; done++ {
		err := p.change(func(t *tx) (err error) {
			more, err = t.TidyTexts()
			return err
		})
		if err != nil {
			return err
		}
		if more {
			p.progress(PruneProgress{"search", done, 0})
		}
	}
	return nil
}
